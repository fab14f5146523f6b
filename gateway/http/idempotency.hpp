#pragma once
#include <optional>
#include <string>

#include "gateway/http/request.hpp"

namespace sandgate::http {

// One request with an Idempotency-Key.
struct IdempotentCall {
  std::string scope;  // "TENANT/ROLE", or "operator"
  std::string operation;  // "POST /v1/sandboxes"
  std::string key;
  std::string body_hash;  // hash of target and body; a key is bound to it
  bool sealed = false;  // the answer contains a secret
};

// An answer stored for replay.
struct StoredAnswer {
  int status = 200;
  std::string content_type;
  std::string body;
};

// Stores the first answer per key. Each run takes a claim and then settles or releases it once.
class IdempotencyStore {
 public:
  virtual ~IdempotencyStore() = default;

  // The right to run a call: a lease that is renewed until the claim is settled, released or
  // destroyed. After destruction the lease expires, as after a crash.
  class Claim {
   public:
    virtual ~Claim() = default;
    virtual std::string id() const = 0;  // for mark_effect()
    virtual Task<void> settle(StoredAnswer answer) = 0;
    // Lets a retry run, which learns what this run made. Works in the background, so that a
    // cancelled run can call it too.
    virtual void release() = 0;
  };
  struct Start {
    std::unique_ptr<Claim> claim;  // null: the call was answered before, see `answer`
    StoredAnswer answer;
    std::string earlier;  // with a claim: what an unanswered run made, or empty
  };
  // Claims the call. Waits while another request with the key runs. Throws Error(conflict) if the
  // key is bound to another request or the other run does not end in time.
  virtual Task<Start> start(IdempotentCall call) = 0;
};

// Returns the call of a request; empty without the header. Throws Error(invalid) for a malformed
// key.
std::optional<IdempotentCall> idempotent_call(const Request& request);
// Throws Error(invalid) for a malformed Idempotency-Key. Call before reading the body.
void check_idempotency_key(const Request& request);
// Whether an answer of this status may be stored. A failure may not, nor a refusal whose reason may
// end by itself (a bad key, a used-up budget, a conflict, a limit): a retry may be answered better.
bool may_be_replayed(int status);

}  // namespace sandgate::http
