// Runtimes of languages try what the kernel offers before they run anything: under the filter each
// has to find another way, and none may be killed for having asked.
#include "tests/local/namespaces/sandbox_fixture.hpp"

namespace sandgate::test {
namespace {

class RuntimesTest : public SandboxTest {
 protected:
  static void TearDownTestSuite() {
    delete compilers_;
    compilers_ = nullptr;
    SandboxTest::TearDownTestSuite();
  }
  // A sandbox with what the usual image lacks.
  static const std::string& compilers() {
    if (compilers_ != nullptr) return *compilers_;
    const BuildRequest request{.name = "languages",
                               .extra_packages = {"golang-go", "default-jre-headless"}};
    LocalNode::have_image(request);
    CreateSpec spec = node().spec();
    spec.image = request.name;
    spec.resources = {2000, 1024, 1, 256};
    compilers_ = new std::string(node().create(spec));
    return *compilers_;
  }
  // What the program prints when it is compiled and run inside.
  static std::string compiled(const std::string& file, const std::string& program,
                              const std::string& line) {
    node().write(compilers(), "/home/user/" + file, program);
    const ExecResult result = node().shell(compilers(), "cd ~ && " + line);
    EXPECT_EQ(result.exit_code, 0) << result.signal << result.err;
    return result.out;
  }

 private:
  static std::string* compilers_;
};

std::string* RuntimesTest::compilers_ = nullptr;

TEST_F(RuntimesTest, Node) {
  EXPECT_EQ(output("node -e 'const fs=require(\"fs\");fs.promises.readFile(\"/etc/hostname\")"
                   ".then(()=>console.log(6*7))'"),
            "42");
}

// Packages make accounts, with programs that ask for the kernel's auditing.
TEST_F(RuntimesTest, Accounts) {
  EXPECT_EQ(output("useradd -r newcomer && id -un newcomer", "root"), "newcomer");
}

TEST_F(RuntimesTest, Python) {
  EXPECT_EQ(python("import asyncio, threading, subprocess, multiprocessing as m\n"
                   "async def f():\n p = await asyncio.create_subprocess_exec('true')\n"
                   " return await p.wait()\n"
                   "print(asyncio.run(f()))\n"
                   "t = threading.Thread(target=lambda: None); t.start(); t.join()\n"
                   "p = m.get_context('fork').Pool(2); print(p.map(abs, [-1, -2])); p.close()\n")
                .out,
            "0\n[1, 2]\n");
}

TEST_F(RuntimesTest, Git) {
  EXPECT_EQ(
      output("cd ~ && git init -q r && cd r && echo a > a && git add a && "
             "git -c user.name=a -c user.email=a@b commit -qm x && git log --oneline | wc -l"),
      "1");
}

constexpr const char* kGo = R"(package main

import ("net"; "os"; "os/exec"; "time")

func main() {
	sum := make(chan int)
	for i := 1; i <= 100; i++ {
		go func(n int) { time.Sleep(time.Millisecond); sum <- n }(i)
	}
	all := 0
	for i := 1; i <= 100; i++ { all += <-sum }
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil || all != 5050 { panic(err) }
	go func() {
		if guest, err := door.Accept(); err == nil { guest.Write([]byte("hello")); guest.Close() }
	}()
	guest, err := net.Dial("tcp", door.Addr().String())
	if err != nil { panic(err) }
	word := make([]byte, 5)
	guest.Read(word)
	out, err := exec.Command("echo", string(word), "world").Output()
	if err != nil { panic(err) }
	os.Stdout.Write(out)
}
)";

TEST_F(RuntimesTest, Go) {
  EXPECT_EQ(compiled("hello.go", kGo, "GO111MODULE=off CGO_ENABLED=0 go run hello.go"),
            "hello world\n");
}

constexpr const char* kJava = R"(
import java.net.*;
import java.util.concurrent.*;
import java.util.stream.*;

class Hello {
  public static void main(String[] words) throws Exception {
    int all = IntStream.rangeClosed(1, 100).parallel().sum();
    ServerSocket door = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    ExecutorService threads = Executors.newFixedThreadPool(4);
    Future<String> word = threads.submit(() -> {
      try (Socket host = door.accept()) { return new String(host.getInputStream().readAllBytes()); }
    });
    try (Socket guest = new Socket(door.getInetAddress(), door.getLocalPort())) {
      guest.getOutputStream().write("hello".getBytes());
    }
    Process echo = new ProcessBuilder("echo", word.get(), "world").start();
    String said = new String(echo.getInputStream().readAllBytes());
    if (all == 5050 && echo.waitFor() == 0) System.out.print(said);
    threads.shutdown();
  }
}
)";

TEST_F(RuntimesTest, Java) {
  EXPECT_EQ(compiled("Hello.java", kJava, "java Hello.java"), "hello world\n");
}

}  // namespace
}  // namespace sandgate::test
