# SPDX-License-Identifier: Apache-2.0
#
# Completes command lines of topk in bash. The tool itself says which commands and options it has, and which
# words an option takes: it lists them when it refuses the word '?'. Without -k or a predicate it does no more.

_topk_commands() {
    "$1" --help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p'
}

_topk_options() {
    "$@" --help 2>/dev/null | sed -nE 's/^ {2,6}(-., )?(--?[a-z-]+).*/\2/p'
}

_topk_words() {
    "$1" "$2" "$3=?" 2>&1 </dev/null | sed -n 's/.* is none of //p' | tr -d , | tr ' ' '\n' | grep -v :
}

# bash takes `--nan=last' for three words, unless COMP_WORDBREAKS lacks the equals sign.
_topk() {
    local tool=$1 command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
    local prefix='' list
    if [[ $word == '=' ]]; then
        word=''
    elif [[ $option == '=' ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $word == --*=* ]]; then
        option=${word%%=*} prefix=${word%%=*}= word=${word#*=}
    fi
    if [[ $COMP_CWORD == 1 ]]; then
        list="$(_topk_commands "$tool") $(_topk_options "$tool")"
    elif [[ $command == help ]]; then
        list=$(_topk_commands "$tool")
    elif [[ $option == --* ]] && list=$(_topk_words "$tool" "$command" "$option"); then
        :
    elif [[ $word == -* ]]; then
        list=$(_topk_options "$tool" "$command")
    fi
    COMPREPLY=($(compgen -P "$prefix" -W "$list" -- "$word"))
}

# Where it finds nothing, the word is the name of a file.
complete -o default -F _topk topk
