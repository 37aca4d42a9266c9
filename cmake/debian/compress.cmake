# Compresses what Debian wants compressed. cpack runs this on the files of all packages before it packs them.
file(GLOB_RECURSE files ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/man/*.[15]
     ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/doc/*/changelog)
execute_process(COMMAND gzip -9 --no-name ${files} COMMAND_ERROR_IS_FATAL ANY)
