// Runs a sequence of instructions of the table whose operands and results are data: cases are tables of typed-in bits.

#pragma once

#include "tests/unit/emulator/KernelFixture.h"

#include <initializer_list>
#include <set>
#include <string>
#include <vector>

namespace jitk::emulator::test {

/// `name0, name1, ...`
inline std::string numbered(const std::string &name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i ? ", " : "") + name + std::to_string(i);
  }
  return text;
}

/// `type, type, ...`
inline std::string repeated(const std::string &type, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    text += (i ? ", " : "") + type;
  }
  return text;
}

/// Where dynamic shared memory begins, as `shared.base` gives it.
inline constexpr uint64_t smem = 1024;

/// The bits of one register: the same in all threads, or one for each.
class Lanes {
public:
  Lanes(uint64_t all) : values_{all} {} // NOLINT: a literal in a table
  Lanes(std::vector<uint64_t> each) : values_(std::move(each)) {}
  uint64_t at(size_t thread) const { return values_.size() == 1 ? values_[0] : values_.at(thread); }

  /// `first` in thread 0, `step` more in each further one.
  static Lanes counting(uint64_t first, uint64_t step, size_t threads) {
    std::vector<uint64_t> each(threads);
    for (size_t thread = 0; thread < threads; ++thread) {
      each[thread] = first + step * thread;
    }
    return each;
  }

private:
  std::vector<uint64_t> values_;
};

/// What a run gave.
class Outcome {
public:
  LaunchReport report;

  /// Result register `index` of step `step`, zero-extended.
  uint64_t at(size_t step, size_t index, size_t thread, size_t cta = 0) const {
    return words_.at((cta * numResults_ + firstResult_.at(step) + index) * threads_ + thread);
  }
  /// The register of all threads of CTA 0.
  std::vector<uint64_t> all(size_t step, size_t index = 0) const {
    std::vector<uint64_t> values;
    for (size_t thread = 0; thread < threads_; ++thread) {
      values.push_back(at(step, index, thread));
    }
    return values;
  }

private:
  friend class Program;
  std::vector<uint64_t> words_; // [cta][result][thread]
  std::vector<size_t> firstResult_;
  size_t numResults_ = 0, threads_ = 0;
};

/// Instructions that all threads of a CTA execute one after another.
class Program {
public:
  explicit Program(size_t threads) : threads_(threads) {}

  /// Appends an instruction with its operands, the predicate included; its number.
  size_t add(const std::string &form, std::vector<Lanes> operands = {}, const std::vector<int64_t> &immediates = {}) {
    const ir::ptx::Instruction *row = ir::ptx::lookupInstruction(form);
    REQUIRE_MESSAGE(row, form);
    REQUIRE_MESSAGE(row->operands.size() == operands.size(), form);
    const std::string step = std::to_string(firstResult_.size());
    std::string arguments, types;
    for (size_t i = 0; i < operands.size(); ++i) {
      arguments += (i ? ", %s" : "%s") + step + "_" + std::to_string(i);
      types += (i ? ", " : "") + typeOf(row->operands[i]);
      loadOperand("%s" + step + "_" + std::to_string(i), row->operands[i], operands[i]);
    }
    std::string imms;
    for (int64_t value : immediates) {
      imms += (imms.empty() ? "" : ", ") + std::to_string(value);
    }
    const size_t results = row->results.size();
    std::string resultTypes;
    for (size_t i = 0; i < results; ++i) {
      resultTypes += (i ? ", " : "") + typeOf(row->results[i]);
    }
    body_ += (results ? "%r" + step + ":" + std::to_string(results) + " = " : "") + "ptx.inst \"" + form + "\"(" +
             arguments + ")" + (imms.empty() ? "" : " {imms = array<i64: " + imms + ">}") + " : (" + types + ") -> (" +
             resultTypes + ")\n";
    firstResult_.push_back(numResults_);
    for (size_t i = 0; i < results; ++i) {
      storeResult("%r" + step + "#" + std::to_string(i), row->results[i]);
    }
    return firstResult_.size() - 1;
  }

  void barrier() { add("bar.sync", {}, {0}); }

  /// Writes 8-byte words to shared memory from `address` on, then meets at a barrier.
  void fillShared(uint64_t address, const std::vector<uint64_t> &words) {
    for (size_t first = 0; first < words.size(); first += threads_) {
      std::vector<uint64_t> writes, values;
      for (size_t thread = 0; thread < threads_; ++thread) {
        const bool inside = first + thread < words.size();
        writes.push_back(inside);
        values.push_back(inside ? words[first + thread] : 0);
      }
      add("st.shared.b64", {writes, Lanes::counting(address + 8 * first, 8, threads_), values});
    }
    barrier();
  }

  /// Reads the 8-byte word at `address + 8 * thread` of shared memory; the step's number.
  size_t readShared(uint64_t address) { return add("ld.shared.b64", {1, Lanes::counting(address, 8, threads_)}); }

  /// Runs in a machine that may hold buffers. Findings are for the caller to look at.
  Outcome run(Machine &machine, LaunchParameters parameters = {}) const {
    const size_t ctas = size_t(parameters.grid[0]) * parameters.grid[1] * parameters.grid[2];
    if (parameters.sharedBytes == 0) {
      parameters.sharedBytes = 16384;
    }
    const std::string text =
        kernel("%in: !llvm.ptr<1>, %out: !llvm.ptr<1>", globalOf("in_tid", "in", 8) + R"(
    %x = ptx.inst "sreg.ctaid.x"() : () -> i32
    %y = ptx.inst "sreg.ctaid.y"() : () -> i32
    %z = ptx.inst "sreg.ctaid.z"() : () -> i32
    %nx = ptx.inst "sreg.nctaid.x"() : () -> i32
    %ny = ptx.inst "sreg.nctaid.y"() : () -> i32
    %plane = llvm.mul %z, %ny : i32
    %row = llvm.add %plane, %y : i32
    %line = llvm.mul %row, %nx : i32
    %cta = llvm.add %line, %x : i32
    %cta64 = llvm.zext %cta : i32 to i64
    %out_cta = llvm.getelementptr %out[%cta64] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, !llvm.array<)" +
                                                            std::to_string(numResults_ * threads_ * 8) + " x i8>\n" +
                                                            globalOf("out_tid", "out_cta", 8) + body_);
    Outcome outcome;
    outcome.threads_ = threads_;
    outcome.numResults_ = numResults_;
    outcome.firstResult_ = firstResult_;
    const uint64_t in = machine.upload(operands_), out = machine.allocate(ctas * numResults_ * threads_ * 8);
    outcome.report = machine.run(text, uint32_t(threads_), {in, out}, parameters);
    outcome.words_ = machine.download<uint64_t>(out, ctas * numResults_ * threads_);
    return outcome;
  }

  /// The same in a machine of its own; nothing must be found.
  Outcome runClean(const DeviceOptions &options = {}) const {
    Machine machine(options);
    Outcome outcome = run(machine);
    CHECK_MESSAGE(outcome.report.clean(), outcome.report.toString());
    return outcome;
  }

private:
  static std::string typeOf(char letter) {
    switch (letter) {
    case 'b':
      return "i1";
    case 'h':
      return "i16";
    case 'r':
      return "i32";
    case 'f':
      return "f32";
    case 'd':
      return "f64";
    default:
      return "i64";
    }
  }

  /// The integer type of a register's bits.
  static std::string bitsOf(char letter) { return letter == 'f' ? "i32" : letter == 'd' ? "i64" : typeOf(letter); }

  void loadOperand(const std::string &name, char letter, const Lanes &lanes) {
    const std::string offset = std::to_string(operands_.size() * 8);
    for (size_t thread = 0; thread < threads_; ++thread) {
      operands_.push_back(lanes.at(thread));
    }
    body_ += name + "_at = llvm.getelementptr %in_tid[" + offset + "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n";
    body_ += name + "_word = ptx.inst \"ld.global.b64\"(%true, " + name + "_at) : (i1, !llvm.ptr<1>) -> i64\n";
    const std::string bits = bitsOf(letter), type = typeOf(letter);
    // A move is a bitcast to the own type.
    body_ +=
        name + "_bits = " + (bits == "i64" ? "llvm.bitcast " : "llvm.trunc ") + name + "_word : i64 to " + bits + "\n";
    body_ += name + " = llvm.bitcast " + name + "_bits : " + bits + " to " + type + "\n";
  }

  void storeResult(const std::string &value, char letter) {
    const std::string name = "%o" + std::to_string(numResults_);
    const std::string bits = bitsOf(letter), type = typeOf(letter);
    body_ += name + "_bits = llvm.bitcast " + value + " : " + type + " to " + bits + "\n";
    body_ +=
        name + "_word = " + (bits == "i64" ? "llvm.bitcast " : "llvm.zext ") + name + "_bits : " + bits + " to i64\n";
    body_ += name + "_at = llvm.getelementptr %out_tid[" + std::to_string(numResults_ * threads_ * 8) +
             "] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8\n";
    body_ += "ptx.inst \"st.global.b64\"(%true, " + name + "_at, " + name + "_word) : (i1, !llvm.ptr<1>, i64) -> ()\n";
    ++numResults_;
  }

  size_t threads_;
  std::string body_;
  std::vector<uint64_t> operands_; // [operand][thread]
  std::vector<size_t> firstResult_;
  size_t numResults_ = 0;
};

/// The forms that some case of this program's tests names.
inline std::set<std::string> &namedForms() {
  static std::set<std::string> forms;
  return forms;
}

/// Says, where a test file keeps its tables, which forms they name.
class Names {
public:
  Names(std::initializer_list<std::string> forms) { namedForms().insert(forms.begin(), forms.end()); }
  /// The forms of a table of cases.
  template <typename Cases> static Names of(const Cases &cases) {
    for (const auto &entry : cases) {
      namedForms().insert(entry.form);
    }
    return {};
  }
};

} // namespace jitk::emulator::test
