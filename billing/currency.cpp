#include "billing/currency.hpp"

namespace sandgate {
namespace {

// Sorted, each code followed by a space or the end.
constexpr std::string_view kWithoutMinorUnit =
    "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF";
constexpr std::string_view kWithTwoDigits =
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN "
    "BZD CAD CDF CHF CNY COP CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP "
    "GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD "
    "KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN "
    "NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG "
    "SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH "
    "USD UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG";
constexpr std::string_view kWithThreeDigits = "BHD IQD JOD KWD LYD OMR TND";

bool has(std::string_view codes, std::string_view currency) {
  for (size_t at = 0; at < codes.size(); at += 4)
    if (codes.substr(at, 3) == currency) return true;
  return false;
}

}  // namespace

std::optional<int> minor_digits(std::string_view currency) {
  if (has(kWithTwoDigits, currency)) return 2;
  if (has(kWithoutMinorUnit, currency)) return 0;
  if (has(kWithThreeDigits, currency)) return 3;
  return std::nullopt;
}

std::string report_currency(const std::optional<std::string>& asked,
                            const std::set<std::string>& seen) {
  if (asked) return *asked;
  return seen.empty() || seen.contains("USD") ? "USD" : *seen.begin();
}

}  // namespace sandgate
