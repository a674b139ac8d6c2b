#include "perf/kernels/Problems.h"

#include "src/ops/OpSchema.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace jitk::perf {

int64_t Problem::size(std::string_view attribute) const {
  Result<int64_t> size = sizeOf(description, attribute, sizes);
  if (!size.ok()) {
    throw std::runtime_error(size.status().toString());
  }
  return *size;
}

/// The number that a text begins with; what follows it must begin with `after`, which is taken off too.
static int64_t takeNumber(std::string &text, std::string_view after) {
  size_t used = 0;
  int64_t number = std::stoll(text, &used);
  if (!std::string_view(text).substr(used).starts_with(after)) {
    throw std::runtime_error("values must be numbers, and first..last/step, with commas between: got '" + text + "'");
  }
  text.erase(0, used + after.size());
  return number;
}

/// "128,256..320/64": 128, 256 and 320.
static std::vector<reference::Number> parseValues(const std::string &text) {
  std::vector<reference::Number> values;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    bool isRange = item.find("..") != std::string::npos;
    int64_t first = takeNumber(item, isRange ? ".." : ""), last = isRange ? takeNumber(item, "/") : first;
    int64_t step = isRange ? takeNumber(item, "") : 1;
    if (!item.empty() || step < 1) {
      throw std::runtime_error("a value must be a number, and a step 1 or more: got '" + text + "'");
    }
    for (int64_t value = first; value <= last; value += step) {
      values.push_back(value);
    }
  }
  return values;
}

static Problem parse(const std::string &text) {
  std::istringstream words(text);
  std::string line, description;
  std::vector<std::pair<std::string, std::string>> given;
  auto append = [](std::string &to, const std::string &word) { to += (to.empty() ? "" : " ") + word; };
  for (std::string word; words >> word;) {
    append(line, word);
    if (size_t colon = word.find(':'); colon != std::string::npos) {
      given.emplace_back(word.substr(0, colon), word.substr(colon + 1));
    } else {
      append(description, word);
    }
  }
  Result<Description> parsed = parseDescription(description);
  if (!parsed.ok()) {
    throw std::runtime_error(parsed.status().toString());
  }
  Problem problem = {description, line, *std::move(parsed), {}, {}};
  const OpSchema &op = **findOp(problem.description.op());
  for (const auto &[name, value] : given) {
    if (std::ranges::find(op.tensors, name, &TensorSchema::name) != op.tensors.end()) {
      problem.values[name] = parseValues(value);
    } else {
      problem.sizes[name] = std::stoll(value);
    }
  }
  return problem;
}

std::vector<Problem> readProblems(const std::string &file) {
  std::ifstream stream(file);
  if (!stream) {
    throw std::runtime_error("cannot read " + file);
  }
  std::vector<Problem> problems;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    try {
      problems.push_back(parse(line));
    } catch (const std::exception &failure) {
      throw std::runtime_error(file + ":" + std::to_string(number) + ": " + failure.what());
    }
  }
  return problems;
}

int64_t validRowsOfGroup(const Problem &problem) {
  return reference::validRowsOfGroup(problem.description, problem.sizes);
}

Work workOf(const Problem &problem) {
  Result<Work> work = reference::workOf(problem.description, problem.sizes, problem.values);
  if (!work.ok()) {
    throw std::runtime_error(work.status().toString());
  }
  return *work;
}

} // namespace jitk::perf
