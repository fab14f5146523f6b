#pragma once
#include <optional>
#include <string>

#include "gateway/http/request.hpp"

namespace sandgate::http {

// One request under an Idempotency-Key.
struct IdempotentCall {
  std::string scope;  // the tenant's id, or "operator"
  std::string operation;  // "POST /v1/sandboxes"
  std::string key;
  std::string body_hash;  // what the key is bound to
  bool sealed = false;  // the answer holds a secret
};

// An answer to be given again.
struct StoredAnswer {
  int status = 200;
  std::string content_type;
  std::string body;
};

// Remembers the first answer under a key. A run is claimed, then settled or released exactly once.
class IdempotencyStore {
 public:
  virtual ~IdempotencyStore() = default;

  // The right to run a call, kept alive until it is settled, released or destroyed (which leaves
  // it to expire, as after a crash).
  class Claim {
   public:
    virtual ~Claim() = default;
    virtual std::string id() const = 0;  // for mark_effect()
    virtual Task<void> settle(StoredAnswer answer) = 0;
    // Lets a retry run, which hears of what was made. Works in the background, so that it also
    // follows a cancelled run.
    virtual void release() = 0;
  };
  struct Start {
    std::unique_ptr<Claim> claim;  // null: `answer` is the first one
    StoredAnswer answer;
    std::string earlier;  // with a claim: what a run made that left no answer; empty: nothing
  };
  // Waits for a twin that is running. Throws Error(conflict) when the key is bound to another body
  // or the twin does not end in time.
  virtual Task<Start> start(IdempotentCall call) = 0;
};

// The call a request makes; empty without the header. Throws Error(invalid) for a malformed key.
std::optional<IdempotentCall> idempotent_call(const Request& request);
// Refuses a malformed Idempotency-Key before the body is read: Error(invalid).
void check_idempotency_key(const Request& request);
// Whether an answer is final: a retry would only meet it again.
bool is_final(int status);

}  // namespace sandgate::http
