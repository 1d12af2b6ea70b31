//! Reads JSON in which each struct is an object. serde's derived code also reads a struct from a list of its fields, in any
//! format, and no record has that form. A program without that second half of the code is 0.1 MB smaller.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// The value that a JSON text has.
///
/// # Errors
/// If the text has another value, or is no JSON.
pub(crate) fn from_str<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(StructsAsObjects(&mut json))?;
    json.end()?;
    Ok(value)
}

/// A part of serde's reading, which passes everything on and asks for an object where a struct is wanted.
struct StructsAsObjects<T>(T);

macro_rules! pass_on {
    ($($method:ident($($name:ident: $kind:ty),*))*) => {
        $(fn $method<V: Visitor<'de>>(self, $($name: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* StructsAsObjects(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for StructsAsObjects<D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(StructsAsObjects(visitor))
    }

    pass_on! {
        deserialize_any() deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_f32() deserialize_f64()
        deserialize_char() deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_option() deserialize_unit() deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str) deserialize_seq() deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize) deserialize_map()
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
        deserialize_identifier() deserialize_ignored_any()
    }
}

macro_rules! pass_on_value {
    ($($method:ident: $kind:ty,)*) => {
        $(fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> { self.0.$method(value) })*
    };
}

macro_rules! pass_on_access {
    ($($method:ident: $access:ident,)*) => {
        $(fn $method<A: $access<'de>>(self, access: A) -> Result<V::Value, A::Error> {
            self.0.$method(StructsAsObjects(access))
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for StructsAsObjects<V> {
    type Value = V::Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(to)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    // What serde_json calls for values; other calls would end in the error of the trait's own methods.
    pass_on_value! {
        visit_bool: bool,
        visit_i64: i64,
        visit_u64: u64,
        visit_f64: f64,
        visit_str: &str,
        visit_borrowed_str: &'de str,
        visit_string: String,
    }

    pass_on_access! {
        visit_some: Deserializer,
        visit_newtype_struct: Deserializer,
        visit_seq: SeqAccess,
        visit_map: MapAccess,
        visit_enum: EnumAccess,
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for StructsAsObjects<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(StructsAsObjects(from))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for StructsAsObjects<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(StructsAsObjects(seed))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for StructsAsObjects<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(StructsAsObjects(seed))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for StructsAsObjects<A> {
    type Error = A::Error;
    type Variant = StructsAsObjects<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let (value, variant) = self.0.variant_seed(seed)?;
        Ok((value, StructsAsObjects(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for StructsAsObjects<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(StructsAsObjects(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, StructsAsObjects(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, StructsAsObjects(visitor))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::from_str;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Inner {
        words: Option<Vec<String>>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    enum Choice {
        Nothing,
        Alone(Inner),
        Pair(u8, Inner),
        Named { inner: Inner },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Outer {
        number: i64,
        rate: f64,
        list: Vec<Inner>,
        map: BTreeMap<String, (bool, Inner)>,
        choices: Vec<Choice>,
        #[serde(default)]
        left_out: Option<Box<Inner>>,
    }

    #[test]
    fn each_form_of_value_is_read_as_serde_json_reads_it() {
        let inner = r#"{"words":["\u00e9"],"unknown":[{}]}"#;
        let choices =
            format!(r#"["Nothing",{{"Alone":{inner}}},{{"Pair":[7,{inner}]}},{{"Named":{{"inner":{inner}}}}}]"#);
        let rest =
            format!(r#""rate":0.5,"list":[{inner},{{"words":null}}],"map":{{"a":[true,{inner}]}},"choices":{choices}"#);
        let text = format!(r#"{{"number":-3,{rest}}}"#);
        assert_eq!(from_str::<Outer>(&text).unwrap(), serde_json::from_str::<Outer>(&text).unwrap());
        for wrong in
            [text.replace("-3", "\"a\""), text.replace("0.5", "[]"), format!("{text} 1"), text.replace("true", "0")]
        {
            let expected = serde_json::from_str::<Outer>(&wrong).unwrap_err().to_string();
            assert_eq!(from_str::<Outer>(&wrong).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_list_is_no_struct() {
        let error = from_str::<Inner>("[null]").unwrap_err().to_string();
        assert_eq!(error, "invalid type: sequence, expected struct Inner at line 1 column 0");
        assert!(from_str::<Vec<Inner>>("[[null]]").is_err());
        assert!(serde_json::from_str::<Inner>("[null]").is_ok(), "serde_json reads it as a struct");
    }
}
