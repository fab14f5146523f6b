#include "gateway/cli/transfer.hpp"

#include <cctype>

#include <openssl/x509_vfy.h>

#include "gateway/cli/terminal/interrupt.hpp"
#include "gateway/core/field_text.hpp"

namespace sandgate::cli {
namespace {

constexpr size_t kMaxAnswerBytes = 64 << 20;  // limit of an answer kept in memory
constexpr long kConnectSeconds = 10;
// A peer that is gone without a word is noticed two minutes later.
constexpr long kKeepAliveIdleSeconds = 60, kKeepAliveIntervalSeconds = 15;

// libcurl uses only its built-in authorities; OpenSSL, which terminals use directly, honours this
// variable by itself.
void trust_named_authorities(CURL* curl) {
  const auto file = environment_variable("SSL_CERT_FILE");
  if (file && !file->empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, file->c_str());
}

// Whether the gateway is this machine's. A proxy would look for it on its own, and be told the key.
bool is_of_this_machine(const std::string& url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parts(curl_url(), &curl_url_cleanup);
  char* text = nullptr;
  if (curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), CURLU_GUESS_SCHEME) != CURLUE_OK ||
      curl_url_get(parts.get(), CURLUPART_HOST, &text, 0) != CURLUE_OK)
    return false;
  const std::string host = ascii_lower(text);
  curl_free(text);
  const bool is_number = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "[::1]" || (is_number && host.starts_with("127."));
}

// Whether this is how a TLS port fails that is spoken to in plain text, before any answer.
bool may_want_tls(CURLcode code) {
  return code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR ||
         code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_WEIRD_SERVER_REPLY;
}

std::string other_scheme(const std::string& url, CURLcode code, bool answered) {
  if (url.starts_with("https://") && code == CURLE_SSL_CONNECT_ERROR)
    return "; if it does not speak TLS, its address begins with http://";
  if (url.starts_with("http://") && !answered && may_want_tls(code))
    return "; if it speaks TLS, its address begins with https://";
  return "";
}

// Whether the connection ended, which had been made.
bool is_loss(CURLcode code) {
  return code == CURLE_GOT_NOTHING || code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR ||
         code == CURLE_PARTIAL_FILE;
}

// What to do about a certificate that was refused. `verdict` is OpenSSL's of its chain; where that
// was not at fault, libcurl leaves it at X509_V_ERR_UNSPECIFIED.
std::string about_certificate(CURLcode code, long verdict) {
  constexpr const char* kAuthority =
      "; set SSL_CERT_FILE to a PEM file with the authority that signed its certificate";
  if (code == CURLE_SSL_CACERT_BADFILE) return kAuthority;
  if (code != CURLE_PEER_FAILED_VERIFICATION) return "";
  switch (verdict) {
    case X509_V_OK:
    case X509_V_ERR_UNSPECIFIED:
      return "; use the name that its certificate is for";
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "; renew it, or set the clock of this machine right";
    default:
      return kAuthority;
  }
}

// Whether no request was sent: there was no connection for it.
bool is_unreachable(CURLcode code) {
  return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
         code == CURLE_COULDNT_RESOLVE_PROXY;
}

// Words of a command line may be any bytes. Other words in their place would do something else.
std::string body_text(const Json& body) {
  try {
    return body.dump();
  } catch (const Json::type_error&) {
    throw Error(ErrorCode::invalid, "what was given is not all UTF-8, which a request has to be");
  }
}

}  // namespace

Transfer::Transfer(const std::string& url, Call& call)
    : url_(url),
      call_(call),
      curl_(curl_easy_init(), &curl_easy_cleanup),
      headers_(nullptr, &curl_slist_free_all) {
  const std::string target = url + call.path;
  CURL* curl = curl_.get();
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason_);
  curl_easy_setopt(curl, CURLOPT_URL, target.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "sandgate-cli");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, this);
  trust_named_authorities(curl);
  if (is_of_this_machine(target)) curl_easy_setopt(curl, CURLOPT_PROXY, "");
  set_body();
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  if (!call.accept.empty()) header("Accept: " + call.accept);
}

void Transfer::set_body() {
  CURL* curl = curl_.get();
  // Disables "100-continue", whose round trip would delay every small body.
  header("Expect:");
  if (call_.upload) {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, &Transfer::on_upload);
    curl_easy_setopt(curl, CURLOPT_READDATA, this);
    if (call_.upload_size)
      curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, curl_off_t(*call_.upload_size));
    header("Content-Type: " + call_.content_type);
  } else if (call_.json || call_.text) {
    sent_body_ = call_.json ? body_text(*call_.json) : *call_.text;
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(sent_body_.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, sent_body_.data());
    header("Content-Type: " + (call_.json ? "application/json" : call_.content_type));
  }
}

void Transfer::header(const std::string& line) {
  headers_.reset(curl_slist_append(headers_.release(), line.c_str()));
}

Reply Transfer::run() {
  curl_easy_setopt(curl_.get(), CURLOPT_HTTPHEADER, headers_.get());
  const CURLcode code = curl_easy_perform(curl_.get());
  const bool answered = reply_.status != 0;
  if (failure_) std::rethrow_exception(failure_);
  if (interrupts() > call_.patience) throw Error(ErrorCode::timeout, "interrupted");
  if (is_unreachable(code)) throw Unreachable(ErrorCode::unavailable, not_reached(code));
  if (is_loss(code)) throw LostAnswer(ErrorCode::unavailable, no_answer(code, answered));
  if (code != CURLE_OK) throw Error(ErrorCode::unavailable, no_answer(code, answered));
  return std::move(reply_);
}

std::string Transfer::reason(CURLcode code) const {
  return *reason_ ? std::string(reason_) : std::string(curl_easy_strerror(code));
}

std::string Transfer::not_reached(CURLcode code) const {
  const std::string line = "cannot reach " + url_ + ": " + reason(code);
  if (code == CURLE_COULDNT_RESOLVE_HOST)
    return line + "; set SANDGATE_URL to the gateway's address, or look at this machine's DNS";
  if (code == CURLE_COULDNT_RESOLVE_PROXY)
    return line + "; set http_proxy and https_proxy to a proxy's address, or neither";
  return line + "; is `sandgate serve` running? Set SANDGATE_URL to the gateway's address";
}

std::string Transfer::no_answer(CURLcode code, bool answered) const {
  long verdict = X509_V_OK;
  curl_easy_getinfo(curl_.get(), CURLINFO_SSL_VERIFYRESULT, &verdict);
  std::string line = "no complete answer from " + url_ + ": " + reason(code) +
                     other_scheme(url_, code, answered) + about_certificate(code, verdict);
  if (code == CURLE_URL_MALFORMAT ||
      (code == CURLE_UNSUPPORTED_PROTOCOL && !url_.starts_with("http")))
    line += "; the gateway's address (SANDGATE_URL) is like https://gate.example.com";
  return line;
}

size_t Transfer::on_body(char* bytes, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  try {
    transfer->receive({bytes, size * count});
    transfer->heard_at_ = std::chrono::steady_clock::now();  // not before: output may have to wait
    return size * count;
  } catch (...) {
    transfer->failure_ = std::current_exception();
    return 0;
  }
}

void Transfer::receive(std::string_view bytes) {
  curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &reply_.status);
  if (call_.download && reply_.status < 300) return call_.download(bytes);
  if (reply_.body.size() + bytes.size() > kMaxAnswerBytes)
    throw Error(ErrorCode::too_large, "the server's answer is over 64 MiB");
  reply_.body.append(bytes);
}

size_t Transfer::on_header(char* bytes, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  const std::string_view line(bytes, size * count);
  curl_easy_getinfo(transfer->curl_.get(), CURLINFO_RESPONSE_CODE, &transfer->reply_.status);
  transfer->heard_at_ = std::chrono::steady_clock::now();
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return size * count;
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.front())))
    value.remove_prefix(1);
  while (!value.empty() && std::isspace(static_cast<unsigned char>(value.back())))
    value.remove_suffix(1);
  transfer->reply_.headers[ascii_lower(line.substr(0, colon))] = value;
  return size * count;
}

bool Transfer::is_silent() const {
  return call_.silence.count() > 0 && reply_.status != 0 &&
         std::chrono::steady_clock::now() - heard_at_ > call_.silence;
}

size_t Transfer::on_upload(char* into, size_t size, size_t count, void* self) {
  auto* transfer = static_cast<Transfer*>(self);
  try {
    return transfer->call_.upload(into, size * count);
  } catch (...) {
    transfer->failure_ = std::current_exception();
    return CURL_READFUNC_ABORT;
  }
}

int Transfer::on_progress(void* self, curl_off_t, curl_off_t received, curl_off_t,
                          curl_off_t sent) {
  auto* transfer = static_cast<Transfer*>(self);
  try {
    if (transfer->call_.on_progress)
      transfer->call_.on_progress(static_cast<uint64_t>(sent), static_cast<uint64_t>(received));
    if (transfer->is_silent())
      throw Error(ErrorCode::unavailable, "no sign of life from " + transfer->url_ + " for " +
                                              std::to_string(transfer->call_.silence.count()) +
                                              " s");
  } catch (...) {
    transfer->failure_ = std::current_exception();
    return 1;
  }
  return interrupts() > transfer->call_.patience ? 1 : 0;
}

}  // namespace sandgate::cli
