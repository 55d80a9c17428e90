# Completion of volley in bash, as in: source <(volley completion bash)
# Words come from `volley complete`, which asks the running router for names.
_volley() {
    local line=${COMP_LINE:0:COMP_POINT} words current candidate
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]} - 1]}
    # Bash replaces what is behind the last colon alone, where colons part words.
    local before=
    [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && before=${current%:*}:
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        if [[ $candidate == :files ]]; then
            compopt -o default
        else
            COMPREPLY+=("${candidate#"$before"}")
        fi
    done < <("$1" complete -- "${words[@]:1}" 2>/dev/null)
}
complete -F _volley volley
