#include <cstring>
#include <iostream>

#include "tests/support/test_database.hpp"

// Starts and ends the PostgreSQL that all test programs of one run of ctest use.
int main(int count, char** words) {
  const char* word = count == 2 ? words[1] : "";
  if (!std::strcmp(word, "start")) {
    sandgate::test::start_shared_cluster();
  } else if (!std::strcmp(word, "stop")) {
    sandgate::test::stop_shared_cluster();
  } else {
    std::cerr << "usage: shared_cluster start|stop\n";
    return 2;
  }
}
