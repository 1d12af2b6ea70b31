//! Makes the parts of bash's completion that clap_complete's script lacks: bash splits `--name=value` into three words,
//! of which that script sees only the last, and the program has two faces.

use fsdyno_job::offered::Offered;
use fsdyno_job::option::{Arity, Offer};

/// The function that completes a fio command line.
pub(super) fn fio_face(options: &[Offered]) -> String {
    let written = |option: &Offered| match option.arity {
        Arity::Required => format!("{}=", option.name),
        Arity::None | Arity::Optional => option.name.to_owned(),
    };
    let names: Vec<String> = options.iter().map(written).collect();
    let alone = options.iter().filter(|option| option.arity != Arity::Required);
    let alone: Vec<String> = alone.map(pattern).collect();
    let cases: String = options.iter().map(case).collect();
    FIO_FACE.replace("@NAMES@", &names.join(" ")).replace("@ALONE@", &alone.join("|")).replace("@CASES@", &cases)
}

/// The completion of `fsdyno`: commands, and by the first word one of the two faces.
pub(super) fn both_faces(commands: &[&str]) -> String {
    BOTH_FACES.replace("@COMMANDS@", &commands.join(" ")).replace("@QUESTIONS@", &commands.join("|"))
}

/// The completion of a link to the fio face.
pub(super) fn link() -> String {
    "complete -o bashdefault -o default -F _fsdyno_fio fio\n".to_owned()
}

/// All names of the option, as a pattern of `case`.
fn pattern(option: &Offered) -> String {
    let names: Vec<&str> = std::iter::once(option.name).chain(option.aliases.iter().copied()).collect();
    names.join("|")
}

/// The `case` line with the values of an option; empty if the table lists none.
fn case(option: &Offered) -> String {
    let action = match option.offer {
        Offer::Files => "action=file".to_owned(),
        Offer::Directories => "action=directory".to_owned(),
        _ if option.words.is_empty() => return String::new(),
        _ => format!("words=\"{}\"", option.words.join(" ")),
    };
    format!("        {}) {action} ;;\n", pattern(option))
}

/// Names and words of the table hold neither blanks nor what a shell reads as its own.
const FIO_FACE: &str = r#"_fsdyno_fio() {
    local word="${COMP_WORDS[COMP_CWORD]}" before=$((COMP_CWORD - 1))
    local option="" name="" typed="" words="" action=""
    COMPREPLY=()
    if [[ $word == [=:] ]]; then
        word=""
        before=$COMP_CWORD
    fi
    # A list of paths comes in pieces, the colons between them.
    while ((before > 2)) && [[ ${COMP_WORDS[before]} == : ]]; do
        before=$((before - 2))
    done
    if [[ ${COMP_WORDS[before]} == "=" ]]; then
        option="${COMP_WORDS[before - 1]}"
    elif [[ $word == -*=* ]]; then
        # Who took the equals sign out of COMP_WORDBREAKS gets the whole word.
        option="${word%%=*}"
        typed="$option="
        word="${word#*=}"
    elif [[ $word != -* ]]; then
        option="${COMP_WORDS[before]}"
        name="${option#-}"
        case "${name#-}" in
            @ALONE@) option="" ;;
        esac
    fi
    if [[ $option == -* ]]; then
        name="${option#-}"
        case "${name#-}" in
@CASES@        esac
        case "$action" in
            "") mapfile -t COMPREPLY < <(compgen -P "$typed" -W "$words" -- "$word") ;;
            *)
                mapfile -t COMPREPLY < <(compgen -P "$typed" -A "$action" -- "$word")
                compopt -o filenames 2>/dev/null
                return
                ;;
        esac
        # A number or a name of one's own is no file.
        compopt +o bashdefault +o default 2>/dev/null
    elif [[ $word == -* ]]; then
        local dashes="--"
        name="${word#-}"
        [[ $word == -[!-]* ]] && dashes="-"
        mapfile -t COMPREPLY < <(compgen -P "$dashes" -W "@NAMES@" -- "${name#-}")
        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    else
        mapfile -t COMPREPLY < <(compgen -A file -- "$word")
        compopt -o filenames 2>/dev/null
    fi
}
"#;

const BOTH_FACES: &str = r#"_fsdyno_both_faces() {
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD - 1]}"
    if ((COMP_CWORD == 1)) && [[ $word != -* ]]; then
        # Nothing found: a job file, which bash completes by itself.
        mapfile -t COMPREPLY < <(compgen -W "@COMMANDS@ fio" -- "$word")
        return
    fi
    case "${COMP_WORDS[1]}" in
        @QUESTIONS@)
            if [[ $word == "=" ]]; then
                word=""
            elif [[ $before == "=" ]]; then
                before="${COMP_WORDS[COMP_CWORD - 2]}"
            fi
            _fsdyno "$1" "$word" "$before"
            ;;
        *) _fsdyno_fio ;;
    esac
}
complete -o bashdefault -o default -F _fsdyno_both_faces fsdyno
"#;
