#compdef volley
# Completion of volley in zsh, as in: source <(volley completion zsh)
# Words come from `volley complete`, which asks the running router for names.
_volley() {
    local line candidate help result=1
    local -a candidates
    while IFS= read -r line; do
        candidate=${line%%$'\t'*} help=${line#*$'\t'}
        if [[ $candidate == :files ]]; then
            _files && result=0
        else
            candidates+=("${candidate//:/\\:}${help:+:$help}")
        fi
    done < <("$words[1]" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    (( $#candidates )) && _describe volley candidates && result=0
    return result
}
if [[ $funcstack[1] == _volley ]]; then
    _volley "$@"
else
    compdef _volley volley
fi
