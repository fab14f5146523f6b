# Writes the shipped price list into the binary, so that it needs no files beside it.
file(READ ${SOURCE} json)
file(WRITE ${OUTPUT} "#include \"billing/prices/shipped_prices.hpp\"\n\nnamespace sandgate {\n\nstd::string_view shipped_prices_json() {\n  return R\"json__(${json})json__\";\n}\n\n}  // namespace sandgate\n")
