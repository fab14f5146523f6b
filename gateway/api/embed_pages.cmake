# Writes the API description and the dashboard into one C++ file, so that the program needs no
# files beside it. A string literal is cut into pieces, since compilers limit the length of one.
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

embed(embedded_openapi "${OPENAPI}" openapi)
embed(embedded_dashboard "${DASHBOARD}" dashboard)
file(WRITE ${OUTPUT} "#include \"gateway/api/openapi_document.hpp\"\n#include \"gateway/api/operations.hpp\"\n\nnamespace sandgate::api {\n\n${openapi}${dashboard}}  // namespace sandgate::api\n")
