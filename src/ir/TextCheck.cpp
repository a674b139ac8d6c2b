#include "src/ir/TextCheck.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>

namespace jitk::ir {
namespace {

/// Some hundred bytes of stack a bracket, and kilobytes where it is a region's, are far from a thread's least stack.
constexpr unsigned kDeepest = 100;
/// A use of `%name#n` that comes before its definition makes the parser allocate n + 1 places.
constexpr uint64_t kMostResults = uint64_t(1) << 22;
/// A message may print all that an alias stands for.
constexpr uint64_t kMostTokensOfAlias = uint64_t(1) << 16;

/// A piece of the text, as far as the check tells them apart.
struct Token {
  enum class Kind : uint8_t { End, Word, Number, Text, Value, Attribute, Type, Other };
  Kind kind;
  llvm::StringRef spelling;

  bool is(llvm::StringRef wanted) const { return spelling == wanted; }
};

class Tokens {
public:
  explicit Tokens(llvm::StringRef text) : rest_(text) {}

  Token next();
  unsigned line() const { return line_; } ///< of the token that `next` gave

private:
  void skipSpace();
  Token take(Token::Kind kind, size_t length) {
    Token token = {kind, rest_.take_front(length)};
    rest_ = rest_.drop_front(length);
    return token;
  }
  static bool isPartOfName(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.' || c == '-'; }
  static bool isPartOfWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; }

  llvm::StringRef rest_;
  unsigned line_ = 1;
};

void Tokens::skipSpace() {
  while (!rest_.empty()) {
    if (rest_.starts_with("//")) {
      rest_ = rest_.drop_until([](char c) { return c == '\n'; });
    } else if (rest_.front() == '\n') {
      ++line_;
      rest_ = rest_.drop_front();
    } else if (llvm::isSpace(rest_.front()) || rest_.front() == '\0') {
      rest_ = rest_.drop_front();
    } else {
      return;
    }
  }
}

Token Tokens::next() {
  skipSpace();
  if (rest_.empty()) {
    return {Token::Kind::End, {}};
  }
  auto lengthWhile = [&](size_t from, bool (*belongs)(char)) {
    while (from < rest_.size() && belongs(rest_[from])) {
      ++from;
    }
    return from;
  };
  char first = rest_.front();
  if (first == '"') {
    // A line's end ends it too: the parser refuses what follows.
    size_t length = 1;
    while (length < rest_.size() && rest_[length] != '"' && rest_[length] != '\n') {
      length += rest_[length] == '\\' && length + 1 < rest_.size() && rest_[length + 1] != '\n' ? 2 : 1;
    }
    bool isClosed = length < rest_.size() && rest_[length] == '"';
    return take(Token::Kind::Text, std::min(rest_.size(), length + (isClosed ? 1 : 0)));
  }
  if (first == '%' || first == '#' || first == '!') {
    auto kind = first == '%' ? Token::Kind::Value : first == '#' ? Token::Kind::Attribute : Token::Kind::Type;
    // After a digit come digits only, whatever is written next to them.
    bool isNumber = rest_.size() > 1 && llvm::isDigit(rest_[1]);
    return take(kind, lengthWhile(1, isNumber ? static_cast<bool (*)(char)>(llvm::isDigit) : isPartOfName));
  }
  if (llvm::isDigit(first)) {
    return take(Token::Kind::Number, lengthWhile(1, isPartOfWord));
  }
  if (llvm::isAlpha(first) || first == '_') {
    return take(Token::Kind::Word, lengthWhile(1, isPartOfWord));
  }
  for (llvm::StringRef several : {"->", ">=", "{-#", "#-}"}) {
    if (rest_.starts_with(several)) {
      return take(Token::Kind::Other, several.size());
    }
  }
  return take(Token::Kind::Other, 1);
}

class TextCheck {
public:
  explicit TextCheck(llvm::StringRef text) : tokens_(text) {}

  Status run() {
    for (Token token = tokens_.next(); token.kind != Token::Kind::End; token = tokens_.next()) {
      JITK_TRY(checkWord(token));
      JITK_TRY(checkArray(token));
      JITK_TRY(checkResult(token));
      JITK_TRY(checkNesting(token));
      beforeLast_ = last_;
      last_ = token;
    }
    return okStatus();
  }

private:
  Status checkWord(const Token &token) const;
  Status checkArray(const Token &token) const;
  Status checkResult(const Token &token);
  Status checkNesting(const Token &token);
  void noteAlias(const Token &token);
  Status refuse(const std::string &wanted, llvm::StringRef found) const {
    return invalidArgument(wanted + ": got " + found.take_front(kLongestQuote).str() + " in line " +
                           std::to_string(tokens_.line()));
  }

  static constexpr size_t kLongestQuote = 40;

  Tokens tokens_;
  Token last_ = {Token::Kind::End, {}}, beforeLast_ = last_;
  uint64_t results_ = 0;
  unsigned depth_ = 0;
  /// What an alias stands for, with the aliases in it written out.
  struct Alias {
    unsigned depth = 0;
    uint64_t tokens = 0;
  };
  /// While an alias is being defined, `alias_` is its place.
  llvm::StringMap<Alias> aliases_;
  llvm::StringMap<Alias>::iterator alias_ = aliases_.end();
};

} // namespace

Status TextCheck::checkWord(const Token &token) const {
  bool isRefused = token.is("affine_map") || token.is("affine_set") || token.is("dense_resource");
  if ((isRefused && token.kind == Token::Kind::Word) || token.is("{-#")) {
    return refuse("IR must have no affine maps, sets and resources", token.spelling);
  }
  return okStatus();
}

Status TextCheck::checkArray(const Token &token) const {
  bool isElement = last_.is("<") && beforeLast_.is("array") && beforeLast_.kind == Token::Kind::Word;
  if (!isElement || token.kind == Token::Kind::Number) { // a number: of elements, in a type of the LLVM dialect
    return okStatus();
  }
  llvm::StringRef name = token.spelling;
  bool isInteger = (name.consume_front("si") || name.consume_front("ui") || name.consume_front("i")) && !name.empty() &&
                   llvm::all_of(name, llvm::isDigit);
  name = token.spelling;
  bool isFloat = (name.consume_front("bf") || name.consume_front("tf") || name.consume_front("f")) && !name.empty() &&
                 llvm::isDigit(name.front());
  return isInteger || isFloat ? okStatus()
                              : refuse("elements of array<...> must be integers or floats", token.spelling);
}

Status TextCheck::checkResult(const Token &token) {
  llvm::StringRef digits = token.spelling.drop_front();
  if (token.kind != Token::Kind::Attribute || last_.kind != Token::Kind::Value || digits.empty() ||
      !llvm::all_of(digits, llvm::isDigit)) {
    return okStatus();
  }
  uint64_t number = 0;
  bool isHuge = digits.getAsInteger(10, number) || number > kMostResults;
  results_ += isHuge ? kMostResults + 1 : number;
  return results_ <= kMostResults ? okStatus()
                                  : refuse("numbers of results must add up to at most " + std::to_string(kMostResults),
                                           (last_.spelling + token.spelling).str());
}

/// Notes where the definition of an alias begins, `#name = ...`, and where it ends: where another statement begins.
void TextCheck::noteAlias(const Token &token) {
  using Kind = Token::Kind;
  if (depth_ != 0) {
    return;
  }
  if (token.is("=") && (last_.kind == Kind::Attribute || last_.kind == Kind::Type)) {
    aliases_.insert_or_assign(last_.spelling, Alias()); // files of several modules define it in each
    alias_ = aliases_.find(last_.spelling);
    return;
  }
  // The name of the next alias begins one too, and is no part of the one before.
  bool isStatement = token.kind != Kind::Other && token.kind != Kind::Number && token.kind != Kind::End;
  if (isStatement && !last_.is("=") && !last_.is(":") && !last_.is("->")) {
    alias_ = aliases_.end();
  }
}

Status TextCheck::checkNesting(const Token &token) {
  noteAlias(token);
  unsigned depth = depth_;
  uint64_t tokens = 1;
  if (token.is("(") || token.is("[") || token.is("{") || token.is("<")) {
    depth = ++depth_;
  } else if (token.is(")") || token.is("]") || token.is("}") || token.is(">")) {
    depth_ -= depth_ > 0;
  } else if (token.kind == Token::Kind::Attribute || token.kind == Token::Kind::Type) {
    auto found = aliases_.find(token.spelling);
    if (found != aliases_.end() && found != alias_) {
      depth += found->second.depth + 1;
      tokens += found->second.tokens;
    }
  }
  if (alias_ != aliases_.end()) {
    alias_->second.depth = std::max(alias_->second.depth, depth);
    alias_->second.tokens += tokens;
    if (alias_->second.tokens > kMostTokensOfAlias) {
      return refuse("an alias must stand for at most " + std::to_string(kMostTokensOfAlias) +
                        " words and signs, those of its aliases included",
                    alias_->getKey());
    }
  }
  return depth <= kDeepest
             ? okStatus()
             : refuse("IR must nest at most " + std::to_string(kDeepest) + " brackets deep, aliases included",
                      std::to_string(depth));
}

Status checkText(std::string_view text) { return TextCheck(text).run(); }

} // namespace jitk::ir
