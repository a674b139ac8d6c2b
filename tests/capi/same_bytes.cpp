// Equal descriptions have equal keys, PTX and machine code, in whatever process they are compiled: with other
// addresses, another environment, another folder, in another order. The argument is how many processes.

#include "jitk/jitk.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <map>
#include <random>
#include <spawn.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace jitk;

namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

struct Subject {
  const char *op;
  Attributes attributes;
};

const Subject kSubjects[] = {
    {"matmul", {{"m", "*<=512"}, {"n", "512"}, {"k", "1024"}, {"dtype", "bf16"}, {"b_layout", "col"}}},
    {"matmul", {{"m", "*"}, {"n", "384"}, {"k", "*"}, {"bias", "true"}, {"activation", "silu"}}},
    {"fp8_block_matmul", {{"m", "64"}, {"n", "512"}, {"k", "1024"}}},
};

unsigned long long hash(std::string_view bytes) {
  unsigned long long state = 14695981039346656037ull;
  for (char byte : bytes) {
    state = (state ^ static_cast<unsigned char>(byte)) * 1099511628211ull;
  }
  return state;
}

/// Compiles for a GPU; for an emulator of it where there is no assembler.
api::Artifact compile(const api::Runtime &runtime, const api::Description &description) {
  try {
    return api::Artifact::compile(runtime, description, "sm_90a");
  } catch (const api::Exception &failure) {
    if (failure.status() != JITK_STATUS_UNAVAILABLE) {
      throw;
    }
    return api::Artifact::compile(runtime, description, "emulator:sm_90a");
  }
}

/// One line for all subjects: what they came to in this process.
int describeAll(unsigned seed) {
  std::mt19937 random(seed);
  ::umask(seed % 2 ? 0077 : 0);
  jitk_runtime_options_t options = {};
  options.struct_size = sizeof options;
  options.store_path = "";
  api::Runtime runtime = api::Runtime::create(&options);
  std::vector<size_t> order(std::size(kSubjects));
  for (size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::string> found(order.size());
  for (size_t i : order) {
    Attributes attributes = kSubjects[i].attributes;
    std::shuffle(attributes.begin(), attributes.end(), random);
    api::Artifact artifact = compile(runtime, api::Description::create(kSubjects[i].op, attributes));
    char line[256];
    std::snprintf(line, sizeof line, "%s %016llx %016llx", artifact.info().key, hash(artifact.dump(JITK_DUMP_PTX)),
                  hash(artifact.dump(JITK_DUMP_CODE)));
    found[i] = line;
  }
  for (const std::string &line : found) {
    std::printf("%s; ", line.c_str());
  }
  return 0;
}

/// A process at work.
struct Process {
  pid_t id = 0;
  int output = -1;
};

Process start(const char *program, unsigned seed) {
  int ends[2];
  if (::pipe(ends) != 0) {
    return {};
  }
  const std::string number = std::to_string(seed);
  const std::string path = std::getenv("PATH") ? std::getenv("PATH") : "/usr/bin";
  const char *locales[] = {"C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"};
  std::vector<std::string> variables = {
      "HOME=/nowhere/" + number,
      "PATH=/nowhere/" + number + ":" + path,
      "LC_ALL=" + std::string(locales[seed % 4]),
      "TZ=Etc/GMT+" + std::to_string(seed % 12),
      "MALLOC_PERTURB_=" + std::to_string(seed % 256),
      "PADDING=" + std::string(seed % 4096, 'x'), // moves the stack
  };
  for (const char *kept : {"CUDA_HOME", "JITK_PTXAS", "LD_LIBRARY_PATH", "JITK_ASSEMBLER"}) {
    if (const char *value = std::getenv(kept)) {
      variables.push_back(std::string(kept) + "=" + value);
    }
  }
  std::shuffle(variables.begin(), variables.end(), std::mt19937(seed));
  std::vector<char *> environment;
  for (std::string &variable : variables) {
    environment.push_back(variable.data());
  }
  environment.push_back(nullptr);
  std::vector<char *> arguments = {const_cast<char *>(program), const_cast<char *>("--child"),
                                   const_cast<char *>(number.c_str()), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO); // why it failed is what differs
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addchdir_np(&actions, seed % 2 ? "/" : "/tmp");
  Process process;
  if (::posix_spawn(&process.id, program, &actions, nullptr, arguments.data(), environment.data()) != 0) {
    process.id = 0;
  }
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  process.output = ends[0];
  return process;
}

std::string finish(const Process &process) {
  std::string text;
  char buffer[1024];
  for (ssize_t got; process.id != 0 && (got = ::read(process.output, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  int status = 0;
  ::close(process.output);
  bool good = process.id != 0 && ::waitpid(process.id, &status, 0) == process.id && status == 0;
  return good ? text : "failed with status " + std::to_string(status) + ": " + text;
}

/// The program and the libraries, beside each other in a folder of their own: what is built while this runs, which may
/// be an hour, would be another build, with other keys.
class Copies {
public:
  explicit Copies(const std::string &program) {
    Dl_info library = {};
    if (!::mkdtemp(folder_) || ::dladdr(reinterpret_cast<void *>(&jitk_build_id), &library) == 0) {
      throw std::runtime_error("cannot make a folder, or find the library");
    }
    namespace files = std::filesystem;
    files::copy_file(program, this->program());
    files::copy_file(files::canonical(library.dli_fname), std::string(folder_) + "/libjitk.so.0");
    files::copy_file(JITK_COMPILER, std::string(folder_) + "/libjitk-compiler.so");
  }
  ~Copies() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Copies(const Copies &) = delete;
  Copies &operator=(const Copies &) = delete;
  std::string program() const { return std::string(folder_) + "/same_bytes"; }

private:
  char folder_[32] = "/tmp/jitk-same-bytes-XXXXXX";
};

int compare(const char *program, unsigned count) {
  const unsigned atOnce = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::string> found;
  for (unsigned begin = 0; begin < count; begin += atOnce) {
    std::vector<Process> processes;
    for (unsigned seed = begin; seed < std::min(count, begin + atOnce); ++seed) {
      processes.push_back(start(program, seed));
    }
    for (const Process &process : processes) {
      found.push_back(finish(process));
    }
  }
  // What most found; so that one that failed is named, be it the first.
  std::map<std::string, unsigned> numOf;
  for (const std::string &one : found) {
    ++numOf[one];
  }
  const std::string usual = std::max_element(numOf.begin(), numOf.end(), [](const auto &a, const auto &b) {
                              return a.second < b.second;
                            })->first;
  unsigned numWrong = 0;
  for (size_t seed = 0; seed < found.size(); ++seed) {
    if (found[seed] != usual || usual.compare(0, 6, "failed") == 0) {
      std::printf("process %zu: %s\n", seed, found[seed].c_str());
      ++numWrong;
    }
  }
  std::printf("%u processes, %u that differ from: %s\n", count, numWrong, usual.c_str());
  return numWrong == 0 && count > 1 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  try {
    if (argc == 3 && std::strcmp(argv[1], "--child") == 0) {
      return describeAll(static_cast<unsigned>(std::atoi(argv[2])));
    }
    char program[4096] = {};
    if (::readlink("/proc/self/exe", program, sizeof program - 1) < 0) {
      return 1;
    }
    const Copies copies(program);
    return compare(copies.program().c_str(), argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 6);
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
