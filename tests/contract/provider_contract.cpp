#include "tests/contract/provider_contract.hpp"

#include <algorithm>
#include <csignal>

#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"

namespace sandgate::test {
namespace {

Task<CommandOutcome> follow(ProcessStream& stream) {
  CommandOutcome outcome;
  for (;;) {
    auto event = co_await stream.next();
    if (!event) throw std::runtime_error("no exit");
    if (const auto* exit = std::get_if<ProcessExit>(&*event)) {
      outcome.exit = *exit;
      co_return outcome;
    }
    const auto& chunk = std::get<OutputChunk>(*event);
    (chunk.channel == Channel::stderr_ ? outcome.err : outcome.out) += chunk.bytes;
    outcome.offsets_grow =
        outcome.offsets_grow && chunk.end_offset == outcome.last_offset + chunk.bytes.size();
    outcome.last_offset = chunk.end_offset;
  }
}

Task<void> give(ProcessStream& stream, std::string input) {
  if (!input.empty()) co_await stream.write_stdin(std::move(input));
  co_await stream.close_stdin();
}

Task<CommandOutcome> execute(Provider& provider, std::string id, Command command,
                             std::optional<std::string> input) {
  auto stream = co_await provider.exec(id, std::move(command));
  if (!input) co_return co_await follow(*stream);
  co_return co_await with_companion(follow(*stream), give(*stream, *input));
}

Task<std::string> drain(Provider& provider, std::string id, std::string path, ByteRange range) {
  const auto content = co_await provider.read_file(id, path, range);
  std::string all, piece(100'000, '\0');
  for (;;) {
    const size_t count = co_await content.bytes->read(piece);
    if (count == 0) co_return all;
    all.append(piece, 0, count);
  }
}

std::string all_bytes() {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  return bytes;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const BackendLine& line) { return out << line.name; }

std::vector<BackendLine> backends_with(const std::set<Verb>& verbs) {
  std::vector<BackendLine> lines = backend_lines();
  std::erase_if(lines,
                [&](const BackendLine& line) { return !std::ranges::includes(line.verbs, verbs); });
  return lines;
}

std::string name_of_line(const testing::TestParamInfo<BackendLine>& line) {
  return line.param.name;
}

void ProviderContract::SetUp() {
  const std::string reason = GetParam().reason_to_skip ? GetParam().reason_to_skip() : "";
  if (!reason.empty()) GTEST_SKIP() << reason;
  backend_ = GetParam().make(loop_);
  CreateSpec spec = backend_->spec();
  spec.sandbox_id = tag_ = SandboxId::make().value;
  spec.env["FROM_CREATE"] = "yes";
  box_ = loop_.run(provider().create(std::move(spec)));
}

void ProviderContract::TearDown() {
  if (backend_ && !box_.backend_id.empty()) loop_.run(provider().kill(box_.backend_id));
}

CommandOutcome ProviderContract::command(Command command, std::optional<std::string> input) {
  command.process_id = ProcessId::make().value;
  return loop_.run(execute(provider(), box_.backend_id, std::move(command), std::move(input)));
}

std::string ProviderContract::read(const std::string& path, ByteRange range) {
  return loop_.run(drain(provider(), box_.backend_id, path, range));
}

FileEntry ProviderContract::write(const std::string& path, std::string bytes, uint32_t mode) {
  TextBytes source(std::move(bytes));
  return loop_.run(provider().write_file(box_.backend_id, path, mode, source));
}

TEST_P(ProviderContract, WhatIsCreatedIsFoundByIdAndTagAndListed) {
  EXPECT_EQ(box_.sandbox_id, tag_);
  const auto found = loop_.run(provider().find(box_.backend_id));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sandbox_id, tag_);
  const auto tagged = loop_.run(provider().find_by_tag(tag_));
  ASSERT_TRUE(tagged);
  EXPECT_EQ(tagged->backend_id, box_.backend_id);
  int listed = 0;
  for (const auto& sandbox : loop_.run(provider().list())) listed += sandbox.sandbox_id == tag_;
  EXPECT_EQ(listed, 1);
}

TEST_P(ProviderContract, KillIsIdempotentAndLeavesNothingToFind) {
  loop_.run(provider().kill(box_.backend_id));
  loop_.run(provider().kill(box_.backend_id));
  EXPECT_FALSE(loop_.run(provider().find(box_.backend_id)));
  EXPECT_FALSE(loop_.run(provider().find_by_tag(tag_)));
  if (can(Verb::exec)) {
    // A gateway knows what ended; most backends do not.
    const auto code = code_of(provider().exec(
        box_.backend_id, {.argv = {"true"}, .process_id = ProcessId::make().value}));
    EXPECT_TRUE(code == ErrorCode::not_found || code == ErrorCode::conflict);
  }
}

// Which tests there are follows from the lines.
TEST_P(ProviderContract, ItsLineNamesItsVerbs) {
  std::set<Verb> declared;
  for (const auto& [verb, keeps] : provider().descriptor().verbs) declared.insert(verb);
  if (GetParam().reason_to_skip)
    EXPECT_TRUE(std::ranges::includes(GetParam().verbs, declared));
  else
    EXPECT_EQ(declared, GetParam().verbs);
}

TEST_P(ProviderContract, UndeclaredVerbsAreUnsupported) {
  const std::string id = box_.backend_id;
  if (!can(Verb::exec)) {
    EXPECT_EQ(code_of(provider().exec(id, {.argv = {"true"}})), ErrorCode::unsupported);
  }
  if (!can(Verb::files)) {
    EXPECT_EQ(code_of(provider().stat(id, "x")), ErrorCode::unsupported);
  }
  if (!can(Verb::background)) {
    EXPECT_EQ(code_of(provider().processes(id)), ErrorCode::unsupported);
  }
  if (!can(Verb::pause)) {
    EXPECT_EQ(code_of(provider().pause(id, Keeps::memory)), ErrorCode::unsupported);
  }
  if (!can(Verb::snapshot)) {
    EXPECT_EQ(code_of(provider().snapshot(id, SnapshotId::make().value, Keeps::disk, true)),
              ErrorCode::unsupported);
  }
  if (!can(Verb::watch)) {
    EXPECT_EQ(code_of(provider().watch(id, ".", false)), ErrorCode::unsupported);
  }
  if (!can(Verb::ports)) {
    EXPECT_EQ(code_of(provider().dial(id, 80)), ErrorCode::unsupported);
  }
}

TEST_P(ExecContract, ExitCodesAndSignalsAreTold) {
  EXPECT_EQ(shell("exit 0").exit.exit_code, 0);
  EXPECT_EQ(shell("exit 7").exit.exit_code, 7);
  EXPECT_EQ(command({.argv = {"/no/such/program"}}).exit.exit_code, 127);
  const auto killed = shell("kill -9 $$");
  EXPECT_EQ(killed.exit.exit_code, 128 + SIGKILL);
  EXPECT_EQ(killed.exit.signal, "SIGKILL");
}

TEST_P(ExecContract, OutputArrivesWholeInOrderAndBinarySafe) {
  const auto numbers = shell("i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done");
  std::string expected;
  for (int i = 0; i < 20000; ++i) expected += std::to_string(i) + "\n";
  EXPECT_EQ(numbers.out, expected);
  EXPECT_TRUE(numbers.offsets_grow);
  const auto both = shell("printf out; printf err >&2");
  EXPECT_EQ(both.out, "out");
  EXPECT_EQ(both.err, "err");
  EXPECT_EQ(both.last_offset, 6u);
}

TEST_P(StdinContract, StdinArrivesBinarySafeAndEnds) {
  EXPECT_EQ(command({.argv = {"cat"}}, all_bytes()).out, all_bytes());
  const std::string large(3 << 20, 'x');
  EXPECT_EQ(command({.argv = {"wc", "-c"}}, large).out.find("3145728"), 0u);
  EXPECT_EQ(command({.argv = {"cat"}}, "").out, "");
}

TEST_P(ExecContract, EnvironmentAndDirectoryAreAsAsked) {
  EXPECT_EQ(command({.shell = "echo $A/$FROM_CREATE", .env = {{"A", "1 2"}}}).out, "1 2/yes\n");
  shell("mkdir -p sub");
  const auto inside = command({.argv = {"pwd"}, .cwd = "sub"});
  EXPECT_TRUE(inside.out.ends_with("/sub\n")) << inside.out;
  EXPECT_EQ(code_of(provider().exec(box_.backend_id, {.argv = {"true"},
                                                      .cwd = "/no/such/place",
                                                      .process_id = ProcessId::make().value})),
            ErrorCode::invalid);
}

TEST_P(ExecContract, TimeoutKillsTheWholeGroup) {
  const auto begin = std::chrono::steady_clock::now();
  const auto slow = command(
      {.shell = "sleep 600 & sleep 600; echo late", .timeout = std::chrono::milliseconds(200)});
  EXPECT_TRUE(slow.exit.timed_out);
  EXPECT_EQ(slow.exit.exit_code, 124);
  EXPECT_EQ(slow.out, "");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST_P(BackgroundContract, BackgroundProcessesAreListedFollowedAndSignalled) {
  const std::string id = box_.backend_id;
  Command command{
      .shell = "trap 'echo bye; exit 3' TERM; echo started; while :; do sleep 0.05; done",
      .keep_on_disconnect = true,
      .background = true,
      .process_id = ProcessId::make().value};
  auto started = loop_.run(provider().exec(id, command));
  const std::string named = started->process_id();
  const std::string pid = named.empty() ? command.process_id : named;
  started.reset();
  auto stream = loop_.run(provider().attach(id, pid, 0));
  const auto first = loop_.run(stream->next());
  ASSERT_TRUE(first && std::holds_alternative<OutputChunk>(*first));
  EXPECT_EQ(std::get<OutputChunk>(*first).bytes, "started\n");
  bool listed = false;
  for (const auto& process : loop_.run(provider().processes(id)))
    listed |= process.id == pid && process.background && process.state == ProcessState::running;
  EXPECT_TRUE(listed);
  loop_.run(provider().signal(id, pid, SIGTERM));
  const auto rest = loop_.run(follow(*stream));
  EXPECT_EQ(rest.out, "bye\n");
  EXPECT_EQ(rest.exit.exit_code, 3);
  EXPECT_FALSE(loop_.run(stream->next()));
  auto again = loop_.run(provider().attach(id, pid, 3));
  EXPECT_EQ(loop_.run(follow(*again)).out, "rted\nbye\n");
}

TEST_P(FilesContract, DroppingTheStreamKillsUnlessKept) {
  Command command{.shell = "echo go; sleep 1; echo alive > proof",
                  .process_id = ProcessId::make().value};
  auto stream = loop_.run(provider().exec(box_.backend_id, command));
  loop_.run(stream->next());
  stream.reset();
  shell("sleep 1.5");
  EXPECT_EQ(code_of(provider().stat(box_.backend_id, "proof")), ErrorCode::not_found);
}

TEST_P(FilesContract, FilesSurviveTheRoundTrip) {
  const std::string id = box_.backend_id;
  const auto entry = write("deep/er/data.bin", all_bytes(), 0640);
  EXPECT_EQ(entry.name, "data.bin");
  EXPECT_EQ(entry.type, FileType::file);
  EXPECT_EQ(entry.size, 256u);
  EXPECT_EQ(entry.mode & 0777, 0640u);
  EXPECT_EQ(read("deep/er/data.bin"), all_bytes());
  EXPECT_EQ(read("deep/er/data.bin", {10, 12}), all_bytes().substr(10, 3));
  EXPECT_EQ(read("deep/er/data.bin", {250, std::nullopt}), all_bytes().substr(250));
  EXPECT_EQ(read("deep/er/data.bin", {1000, std::nullopt}), "");
  const std::string large(5 << 20, 'z');
  write("large name %20 ü", large);
  EXPECT_EQ(read("large name %20 ü"), large);
  write("empty", "");
  EXPECT_EQ(read("empty"), "");
  EXPECT_EQ(loop_.run(provider().stat(id, "empty")).size, 0u);
}

TEST_P(FilesContract, DirectoriesAreMadeListedMovedAndRemoved) {
  const std::string id = box_.backend_id;
  EXPECT_EQ(loop_.run(provider().make_directory(id, "d/e")).type, FileType::directory);
  write("d/b", "1");
  write("d/e/c", "2");
  std::vector<std::string> names;
  for (const auto& entry : loop_.run(provider().list_files(id, "d", 1)))
    names.push_back(entry.name);
  EXPECT_EQ(names, (std::vector<std::string>{"b", "e"}));
  EXPECT_EQ(loop_.run(provider().list_files(id, "d", 2)).size(), 3u);
  EXPECT_EQ(loop_.run(provider().move(id, "d/b", "d/moved")).name, "moved");
  EXPECT_EQ(code_of(provider().stat(id, "d/b")), ErrorCode::not_found);
  EXPECT_TRUE(code_of(provider().remove(id, "d", false)));
  loop_.run(provider().remove(id, "d", true));
  EXPECT_EQ(code_of(provider().stat(id, "d")), ErrorCode::not_found);
}

TEST_P(FilesContract, FileMistakesHaveTheirCodes) {
  const std::string id = box_.backend_id;
  loop_.run(provider().make_directory(id, "folder"));
  EXPECT_EQ(code_of(provider().read_file(id, "missing", {})), ErrorCode::not_found);
  EXPECT_EQ(code_of(provider().read_file(id, "folder", {})), ErrorCode::invalid);
  EXPECT_EQ(code_of(provider().list_files(id, "missing", 1)), ErrorCode::not_found);
  EXPECT_EQ(code_of(provider().remove(id, "missing", true)), ErrorCode::not_found);
}

INSTANTIATE_TEST_SUITE_P(Backends, ProviderContract, testing::ValuesIn(backend_lines()),
                         name_of_line);
INSTANTIATE_TEST_SUITE_P(Backends, ExecContract, testing::ValuesIn(ExecContract::lines()),
                         name_of_line);
INSTANTIATE_TEST_SUITE_P(Backends, StdinContract, testing::ValuesIn(StdinContract::lines()),
                         name_of_line);
INSTANTIATE_TEST_SUITE_P(Backends, BackgroundContract,
                         testing::ValuesIn(BackgroundContract::lines()), name_of_line);
INSTANTIATE_TEST_SUITE_P(Backends, FilesContract, testing::ValuesIn(FilesContract::lines()),
                         name_of_line);

}  // namespace sandgate::test
