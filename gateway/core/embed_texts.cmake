# Writes texts into C++ files, so that the program needs no files beside it.
#
#   sandgate_embed_texts(OUTPUT <file.cpp> NAMESPACE <name> HEADERS <header>... TEXTS <function>=<file>...)
#
# makes the file, in which each `std::string_view <function>()` returns a file's bytes. The headers
# declare them. A function whose file is left out returns none. A file without a directory lies
# beside the CMakeLists.txt.
function(sandgate_embed_texts)
  cmake_parse_arguments(ARG "" "OUTPUT;NAMESPACE" "HEADERS;TEXTS" ${ARGN})
  set(texts "")
  set(files "")
  foreach(text ${ARG_TEXTS})
    string(REGEX MATCH "^([^=]+)=(.*)$" matched ${text})
    set(function ${CMAKE_MATCH_1})
    set(file ${CMAKE_MATCH_2})
    if(file)
      get_filename_component(file ${file} ABSOLUTE)
      list(APPEND files ${file})
    endif()
    list(APPEND texts "${function}=${file}")
  endforeach()
  string(REPLACE ";" "|" texts "${texts}")
  string(REPLACE ";" "|" headers "${ARG_HEADERS}")
  set(script ${CMAKE_SOURCE_DIR}/gateway/core/embed_texts.cmake)
  add_custom_command(
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${CMAKE_CURRENT_BINARY_DIR}/${ARG_OUTPUT} -DNAMESPACE=${ARG_NAMESPACE}
            "-DHEADERS=${headers}" "-DTEXTS=${texts}" -P ${script}
    DEPENDS ${files} ${script}
    VERBATIM)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

# A string literal is cut into pieces, since compilers limit the length of one.
function(embed function file out_variable)
  set(literals "")
  if(file)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${hex}")
    # 256 bytes a line, four characters each.
    string(REGEX REPLACE "(................................................................................................................................................................................................................................................................)" "\\1\"\n      \"" literals "${escaped}")
  endif()
  set(${out_variable} "std::string_view ${function}() {\n  static constexpr char kBytes[] =\n      \"${literals}\";\n  return {kBytes, sizeof(kBytes) - 1};\n}\n\n" PARENT_SCOPE)
endfunction()

set(content "")
string(REPLACE "|" ";" HEADERS "${HEADERS}")
string(REPLACE "|" ";" TEXTS "${TEXTS}")
foreach(header ${HEADERS})
  string(APPEND content "#include \"${header}\"\n")
endforeach()
string(APPEND content "\nnamespace ${NAMESPACE} {\n\n")
foreach(text ${TEXTS})
  string(REGEX MATCH "^([^=]+)=(.*)$" matched ${text})
  embed("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" function)
  string(APPEND content "${function}")
endforeach()
file(WRITE ${OUTPUT} "${content}}  // namespace ${NAMESPACE}\n")
