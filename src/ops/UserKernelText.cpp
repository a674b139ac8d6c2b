#include "src/ops/UserKernelText.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace jitk {

using Op = Expression::Op;

bool isReserved(std::string_view name) {
  static constexpr std::string_view kWords[] = {"ceil", "floor", "min", "max", "multiprocessors"};
  return std::ranges::find(kWords, name) != std::end(kWords);
}

namespace {

/// Reads one attribute from left to right. The first thing that does not fit is kept, and all that follows is void.
class Reader {
public:
  Reader(std::string_view attribute, std::string_view text, const Names &names)
      : attribute_(attribute), text_(text), names_(names) {
    skipSpace();
  }

  bool atEnd() const { return at_ == text_.size(); }
  /// What comes next; a zero at the end.
  char next() const { return atEnd() ? '\0' : text_[at_]; }
  bool ok() const { return problem_.ok(); }
  Status takeProblem() { return std::move(problem_); }

  bool take(char c) {
    if (!ok() || atEnd() || text_[at_] != c) {
      return false;
    }
    ++at_;
    skipSpace();
    return true;
  }
  void expect(char c) {
    if (!take(c)) {
      fail(std::string("'") + c + "'");
    }
  }
  /// A name or keyword; empty if something else comes.
  std::string_view peekWord() const {
    size_t end = at_;
    while (end < text_.size() && isWordCharacter(text_[end])) {
      ++end;
    }
    bool isNumber = end > at_ && text_[at_] >= '0' && text_[at_] <= '9';
    return isNumber ? std::string_view() : text_.substr(at_, end - at_);
  }
  bool bracketFollowsWord() const {
    size_t end = at_ + peekWord().size();
    while (end < text_.size() && isSpace(text_[end])) {
      ++end;
    }
    return end < text_.size() && text_[end] == '[';
  }
  std::string_view takeWord(const char *wanted) {
    std::string_view word = ok() ? peekWord() : std::string_view();
    if (word.empty()) {
      fail(wanted);
    }
    at_ += word.size();
    skipSpace();
    return word;
  }
  bool takeKeyword(std::string_view keyword) {
    if (!ok() || peekWord() != keyword) {
      return false;
    }
    takeWord("");
    return true;
  }
  int64_t number(const char *wanted) {
    int64_t value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (!ok() || error != std::errc() || value < 0) {
      fail(wanted);
      return 0;
    }
    at_ = static_cast<size_t>(end - text_.data());
    skipSpace();
    return value;
  }
  Expression sum() {
    Expression value = product();
    while (ok()) {
      if (take('+')) {
        value = Expression::binary(Op::Add, value, product());
      } else if (take('-')) {
        value = Expression::binary(Op::Sub, value, product());
      } else {
        break;
      }
    }
    return value;
  }
  void fail(std::string wanted) {
    if (ok()) {
      std::string_view rest = text_.substr(at_, 20);
      problem_ = invalidArgument("attribute " + std::string(attribute_) + " must have " + std::move(wanted) +
                                 " at character " + std::to_string(at_ + 1) + ": got '" + std::string(rest) + "'");
    }
  }

private:
  static bool isWordCharacter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static bool isSpace(char c) { return c == ' ' || c == '\n' || c == '\t'; }
  void skipSpace() {
    while (at_ < text_.size() && isSpace(text_[at_])) {
      ++at_;
    }
  }

  Expression product() {
    Expression value = factor();
    while (take('*')) {
      value = Expression::binary(Op::Mul, value, factor());
    }
    return value;
  }
  Expression factor() {
    // Deeper than an expression may be.
    constexpr int kDeepest = 16;
    if (depth_ == kDeepest) {
      fail("parentheses no deeper than " + std::to_string(kDeepest));
    }
    if (!ok()) {
      return {};
    }
    ++depth_;
    Expression value = plainFactor();
    --depth_;
    return value;
  }
  Expression plainFactor() {
    if (take('(')) {
      Expression value = sum();
      expect(')');
      return value;
    }
    std::string_view word = peekWord();
    if (word.empty()) {
      return Expression::constant(number("a number or the name of a dimension"));
    }
    if (word == "ceil" || word == "floor") {
      return division(word == "ceil" ? Op::CeilDiv : Op::FloorDiv);
    }
    if (word == "min" || word == "max") {
      return smallerOrLarger(word == "min" ? Op::Min : Op::Max);
    }
    if (takeKeyword("multiprocessors")) {
      return Expression::multiprocessors();
    }
    auto found = names_.find(word);
    if (found == names_.end()) {
      fail("a number or the name of a dimension");
      return {};
    }
    takeWord("");
    return found->second;
  }
  Expression division(Op op) {
    takeWord("");
    expect('(');
    Expression dividend = sum();
    expect('/');
    Expression divisor = sum();
    if (!divisor.isConstant() || divisor.terms().front().value <= 0) {
      fail("a positive number as the divisor");
    }
    expect(')');
    return ok() ? Expression::binary(op, dividend, divisor) : Expression();
  }
  Expression smallerOrLarger(Op op) {
    takeWord("");
    expect('(');
    Expression first = sum();
    expect(',');
    Expression second = sum();
    expect(')');
    return Expression::binary(op, first, second);
  }

  std::string_view attribute_, text_;
  const Names &names_;
  size_t at_ = 0;
  int depth_ = 0;
  Status problem_;
};

/// The argument being read.
class ArgumentReader {
public:
  ArgumentReader(Reader &reader, const std::vector<std::string> &dimensions, const Names &names)
      : reader_(reader), dimensions_(dimensions), names_(names) {}

  UserArgument read() {
    UserArgument argument;
    argument.name = reader_.takeWord("the name of an argument");
    reader_.expect(':');
    if (reader_.takeKeyword("int32")) {
      argument.kind = UserArgument::Kind::Integer32;
      argument.value = bracketFollows() ? Expression() : valueOf(argument.name);
      return bracketFollows() ? tensor(std::move(argument), "int32") : argument;
    }
    if (reader_.takeKeyword("int64")) {
      argument.kind = UserArgument::Kind::Integer64;
      argument.value = bracketFollows() ? Expression() : valueOf(argument.name);
      return bracketFollows() ? tensor(std::move(argument), "int64") : argument;
    }
    if (reader_.takeKeyword("scalar")) {
      return scalar(std::move(argument));
    }
    if (reader_.takeKeyword("workspace")) {
      argument.kind = UserArgument::Kind::Workspace;
      argument.value = reader_.take('=') ? reader_.sum() : Expression();
      return argument;
    }
    bool named = takeAccess(argument.access);
    std::optional<ScalarType> type = parseScalarType(reader_.peekWord());
    if (type && isFloat(*type) && !named && !reader_.bracketFollowsWord()) {
      return scalar(std::move(argument));
    }
    std::string_view dtype = reader_.peekWord();
    if (dtypeBytes(dtype) == 0) {
      reader_.fail("one of " + dtypeNames() + ", or 'scalar' before another type of a scalar,");
    }
    reader_.takeWord("");
    return tensor(std::move(argument), dtype);
  }

private:
  bool bracketFollows() const { return reader_.next() == '['; }

  /// "= sum", or the dimension of the argument's own name.
  Expression valueOf(const std::string &name) {
    if (reader_.take('=')) {
      return reader_.sum();
    }
    auto found = names_.find(name);
    if (found == names_.end()) {
      reader_.fail("'=' and a value, or 'scalar' before the type, since no dimension has the name " + name + ",");
      return {};
    }
    return found->second;
  }

  bool takeAccess(Access &access) {
    for (Access each : {Access::Read, Access::Written, Access::Updated}) {
      if (reader_.takeKeyword(accessName(each))) {
        access = each;
        return true;
      }
    }
    return false;
  }

  UserArgument scalar(UserArgument argument) {
    argument.kind = UserArgument::Kind::Scalar;
    std::optional<ScalarType> type = parseScalarType(reader_.peekWord());
    if (!type) {
      reader_.fail("one of " + scalarTypeNames());
    }
    reader_.takeWord("");
    argument.scalar = type.value_or(ScalarType::Fp32);
    return argument;
  }

  UserArgument tensor(UserArgument argument, std::string_view dtype) {
    argument.kind = UserArgument::Kind::Tensor;
    argument.value = {};
    argument.dtype = dtype;
    argument.alignment = static_cast<uint32_t>(dtypeBytes(dtype));
    if (!reader_.take('[')) {
      reader_.fail("'[' and the sizes of a tensor");
    }
    while (reader_.ok() && !reader_.take(']')) {
      if (!argument.extents.empty()) {
        reader_.expect(',');
      }
      argument.extents.push_back(extent(reader_.sum()));
    }
    if (reader_.takeKeyword("align")) {
      int64_t alignment = reader_.number("a power of two up to 4096");
      if (alignment > 4096 || !std::has_single_bit(static_cast<uint64_t>(alignment))) {
        reader_.fail("a power of two up to 4096 before it");
      }
      argument.alignment = std::max(argument.alignment, static_cast<uint32_t>(alignment));
    }
    return argument;
  }

  Extent extent(const Expression &value) {
    const std::vector<Expression::Term> &terms = value.terms();
    if (value.isConstant()) {
      return {"", 1, terms.front().value};
    }
    bool isDimension = terms.front().op == Op::Dimension;
    bool isBinary = terms.size() == 3 && terms[1].op == Op::Constant;
    if (isDimension && terms.size() == 1) {
      return {nameOf(terms.front()), 1, 0};
    }
    if (isDimension && isBinary && terms[2].op == Op::CeilDiv) {
      return {nameOf(terms.front()), terms[1].value, 0};
    }
    if (isDimension && isBinary && terms[2].op == Op::Add) {
      return {nameOf(terms.front()), 1, terms[1].value};
    }
    reader_.fail("before it a size that is a number, a dimension, ceil(dimension/number) or dimension+number,");
    return {};
  }
  const std::string &nameOf(const Expression::Term &term) const { return dimensions_[static_cast<size_t>(term.value)]; }

  Reader &reader_;
  const std::vector<std::string> &dimensions_;
  const Names &names_;
};

} // namespace

/// What a launch can evaluate.
static Status checkDepth(std::string_view attribute, const Expression &expression, size_t numDimensions) {
  if (!expression.isValid(numDimensions)) {
    return invalidArgument("attribute " + std::string(attribute) + " has an expression that is too deep");
  }
  return okStatus();
}

Result<std::vector<Expression>> parseExpressions(std::string_view attribute, std::string_view text,
                                                 const Names &names) {
  Reader reader(attribute, text, names);
  std::vector<Expression> expressions;
  while (reader.ok() && !reader.atEnd()) {
    if (!expressions.empty()) {
      reader.expect(',');
    }
    expressions.push_back(reader.sum());
  }
  if (!reader.ok()) {
    return reader.takeProblem();
  }
  for (const Expression &expression : expressions) {
    JITK_TRY(checkDepth(attribute, expression, names.size()));
  }
  return expressions;
}

Result<std::vector<UserArgument>> parseArguments(std::string_view text, const Names &names,
                                                 const std::vector<std::string> &dimensions) {
  Reader reader("arguments", text, names);
  std::vector<UserArgument> arguments;
  while (reader.ok() && !reader.atEnd()) {
    if (!arguments.empty()) {
      reader.expect(',');
    }
    arguments.push_back(ArgumentReader(reader, dimensions, names).read());
  }
  if (!reader.ok()) {
    return reader.takeProblem();
  }
  for (const UserArgument &argument : arguments) {
    JITK_TRY(checkDepth("arguments", argument.value, names.size()));
  }
  return arguments;
}

} // namespace jitk
