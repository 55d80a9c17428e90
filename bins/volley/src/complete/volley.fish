# Completion of volley in fish, as in: volley completion fish | source
# Words come from `volley complete`, which asks the running router for names.
function __volley_candidates
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$current"
        else
            printf '%s\n' $line
        end
    end
end
complete -c volley -f -a '(__volley_candidates)'
