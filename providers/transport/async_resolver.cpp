#include "providers/transport/async_resolver.hpp"

#include <list>
#include <thread>

#include "gateway/core/auto_reset_event.hpp"
#include "gateway/core/bounded_map.hpp"

namespace sandgate {
namespace {

using Addresses = AsyncResolver::Addresses;

constexpr size_t kKeptAnswers = 4096;

// The registrable domain, approximated by the last two labels.
std::string domain_of(const std::string& host) {
  const size_t last = host.rfind('.');
  if (last == std::string::npos || last == 0) return host;
  const size_t before = host.rfind('.', last - 1);
  return before == std::string::npos ? host : host.substr(before + 1);
}

struct Question {
  std::string host, domain;
  bool trusted = false;
  std::unique_ptr<AutoResetEvent> wakeup;  // null: the caller is gone
  Addresses answer;
};

struct KeptAnswer {
  Addresses addresses;
  std::chrono::steady_clock::time_point until;
};

}  // namespace

// Shared by the object and its threads, which may outlive it.
struct AsyncResolver::State : std::enable_shared_from_this<State> {
  State(Resolve ask, Limits limits) : ask(std::move(ask)), limits(limits) {}

  bool has_room(const Question& question) const {
    const auto of_domain = domains.find(question.domain);
    const size_t held = of_domain == domains.end() ? 0 : of_domain->second;
    return at_once < limits.at_once && held < limits.of_one_domain &&
           (question.trusted || held + of_tenants < limits.for_tenants);
  }

  bool may_wait(const Question& question) const {
    const auto held = std::count_if(waiting.begin(), waiting.end(), [&](const auto& one) {
      return one->domain == question.domain;
    });
    return static_cast<size_t>(held) + waiting.size() < limits.waiting;
  }

  void keep(const std::string& host, const Addresses& answer) {
    if (answer.empty()) return;
    const auto until = std::chrono::steady_clock::now() + limits.keep;
    kept.with(
        host, [] { return KeptAnswer(); },
        [&](KeptAnswer& one) {
          one = KeptAnswer{answer, until};
        });
  }

  std::optional<Addresses> kept_answer(const std::string& host) {
    auto found = kept.find(host);
    if (!found || found->until <= std::chrono::steady_clock::now()) return std::nullopt;
    return std::move(found->addresses);
  }

  // Call with the mutex held; add, leave and work take it themselves.
  void count(const Question& question) {
    ++at_once;
    of_tenants += question.trusted ? 0 : 1;
    ++domains[question.domain];
  }

  void discount(const Question& question) {
    --at_once;
    of_tenants -= question.trusted ? 0 : 1;
    if (--domains[question.domain] == 0) domains.erase(question.domain);
  }

  // Takes the oldest waiting lookup that the limits allow; null if there is none.
  std::shared_ptr<Question> next() {
    const auto found = std::find_if(waiting.begin(), waiting.end(),
                                    [this](const auto& one) { return has_room(*one); });
    if (found == waiting.end()) return nullptr;
    auto taken = std::move(*found);
    waiting.erase(found);
    count(*taken);
    return taken;
  }

  void work(std::shared_ptr<Question> question) {
    while (question) {
      Addresses answer = ask(question->host);
      keep(question->host, answer);
      std::lock_guard lock(mutex);
      question->answer = std::move(answer);
      if (question->wakeup) question->wakeup->set();
      discount(*question);
      question = next();
    }
  }

  void add(const std::shared_ptr<Question>& question) {
    std::lock_guard lock(mutex);
    if (has_room(*question)) {
      std::thread([self = shared_from_this(), question] { self->work(question); }).detach();
      count(*question);
    } else if (may_wait(*question)) {
      waiting.push_back(question);
    } else {
      throw Error(ErrorCode::unavailable, "too many names of backends wait to be looked up");
    }
  }

  void leave(const std::shared_ptr<Question>& question) {
    std::lock_guard lock(mutex);
    question->wakeup.reset();
    waiting.remove(question);
  }

  const Resolve ask;
  const Limits limits;
  std::mutex mutex;
  size_t at_once = 0, of_tenants = 0;
  std::map<std::string, size_t> domains;
  std::list<std::shared_ptr<Question>> waiting;
  BoundedMap<KeptAnswer> kept{kKeptAnswers};  // by host
};

AsyncResolver::AsyncResolver()
    : AsyncResolver(
          [](const std::string& host) { return host_addresses(host).value_or(Addresses()); }, {}) {}
AsyncResolver::AsyncResolver(Resolve ask, Limits limits)
    : state_(std::make_shared<State>(std::move(ask), limits)) {}

AsyncResolver& AsyncResolver::shared() {
  static AsyncResolver lookup;
  return lookup;
}

Task<Addresses> AsyncResolver::find(std::string host, bool trusted) {
  boost::system::error_code no_address;
  const auto address = asio::ip::make_address(host, no_address);
  if (!no_address) co_return Addresses(1, address);
  if (auto kept = state_->kept_answer(host)) co_return std::move(*kept);
  const auto executor = co_await asio::this_coro::executor;
  struct Asked {
    ~Asked() { state->leave(question); }
    std::shared_ptr<State> state;
    std::shared_ptr<Question> question;
  };
  Asked asked{state_, std::make_shared<Question>()};
  asked.question->domain = domain_of(host);
  asked.question->host = std::move(host);
  asked.question->trusted = trusted;
  asked.question->wakeup = std::make_unique<AutoResetEvent>(executor);
  state_->add(asked.question);
  co_await asked.question->wakeup->wait();
  co_return asked.question->answer;
}

}  // namespace sandgate
