#include "src/ir/TextCheck.h"

#include "src/ir/Register.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

using namespace jitk;

static std::string repeated(const std::string &text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) {
    all += text;
  }
  return all;
}

static std::string nested(const std::string &open, const std::string &inner, const std::string &close, size_t count) {
  return repeated(open, count) + inner + repeated(close, count);
}

/// A chain of aliases, each in brackets of its own.
static std::string aliases(const std::string &sign, const std::string &open, const std::string &close, size_t count) {
  std::string text = sign + "a0 = " + open + "i32" + close + "\n";
  for (size_t i = 1; i <= count; ++i) {
    text += sign + "a" + std::to_string(i) + " =\n  " + open + sign + "a" + std::to_string(i - 1) + close + "\n";
  }
  return text;
}

static std::string refusal(const std::string &text) {
  Status status = ir::checkText(text);
  return status.ok() ? "" : status.toString();
}

TEST_SUITE("ir/TextCheck") {
  TEST_CASE("elements of arrays are integers or floats") {
    const char *wanted = "elements of array<...> must be integers or floats: got ";
    CHECK(refusal("module attributes {\n  tt.a = array<index: 1>} {}") == std::string(wanted) + "index in line 2");
    CHECK(refusal("array < // a comment\n index>") == std::string(wanted) + "index in line 2");
    CHECK(refusal("!i = index\nmodule attributes {tt.a = array<!i: 1>} {}") == std::string(wanted) + "!i in line 2");
    for (const char *text : {"array<i1: true>", "array<si8: -1>", "array<ui64>", "array<f8E4M3FN: 1.0>",
                             "array<bf16: 1.0>", "array<tf32: 1.0>", "!llvm.struct<(array<4 x i8>)>",
                             "\"array<index>\"", "!llvm.array<4 x i8>", "{array = index}"}) {
      CHECK(refusal(text) == "");
    }
  }

  TEST_CASE("what an alias stands for stays small, written out") {
    // A message that prints the type would have 2^35 words.
    std::string text = "!t0 = tuple<i32>\n";
    for (int i = 1; i <= 35; ++i) {
      std::string before = "!t" + std::to_string(i - 1);
      text += "!t" + std::to_string(i) + " = tuple<" + before + ", " + before + ">\n";
    }
    CHECK(refusal(text) ==
          "an alias must stand for at most 65536 words and signs, those of its aliases included: got !t13 "
          "in line 14");
    CHECK(refusal("!t0 = tuple<i32>\n!t1 = tuple<!t0, !t0>\n") == "");
    // Modules of one file have aliases of one name, each its own.
    CHECK(refusal(repeated("!t0 = tuple<i32>\n!t1 = tuple<!t0, !t0>\n!t0 = tuple<!t1, !t1>\nmodule {}\n", 40)) == "");
  }

  TEST_CASE("numbers of results stay small, all together") {
    const char *wanted = "numbers of results must add up to at most 4194304: got ";
    CHECK(refusal("%a = arith.addi %r#2147483648, %r#0") == std::string(wanted) + "%r#2147483648 in line 1");
    CHECK(refusal("%r #4294967295") == std::string(wanted) + "%r#4294967295 in line 1");
    CHECK(refusal("arith.addi %b, %r#4000000000overflow<none> : i32") ==
          std::string(wanted) + "%r#4000000000 in line 1");
    CHECK(refusal("scf.for %i = %r#2000000000to %b") == std::string(wanted) + "%r#2000000000 in line 1");
    CHECK(refusal("%r#99999999999999999999999") == std::string(wanted) + "%r#99999999999999999999999 in line 1");
    CHECK(refusal(repeated("%r#1000000\n", 5)) == std::string(wanted) + "%r#1000000 in line 5");
    CHECK(refusal(repeated("%r#300 ", 1000)) == "");
    CHECK(refusal("#loc99999999999 %r, #99999999999") == "");
  }

  TEST_CASE("nesting is bounded, whatever the bracket") {
    const char *wanted = "IR must nest at most 100 brackets deep, aliases included: got 101 in line 1";
    for (auto [open, close] : {std::pair("(", ")"), {"[", "]"}, {"{a = ", "}"}, {"tuple<", ">"}, {"module {", "}"}}) {
      CHECK(refusal(nested(open, "", close, 200000)) == wanted);
      CHECK(refusal(nested(open, "", close, 101)) == wanted);
      CHECK(refusal(nested(open, "", close, 100)) == "");
    }
    CHECK(refusal(repeated("(a) -> [b] {c} <d> >= ", 1000)) == "");
    CHECK(refusal("\"" + repeated("(", 1000) + "\" // " + repeated("(", 1000)) == "");
    CHECK(refusal("\"\\\"" + repeated("(", 1000) + "\\\\\"") == "");
  }

  TEST_CASE("nesting goes through aliases") {
    for (const std::string &text : {aliases("#", "[", "]", 60), aliases("!", "tuple<", ">", 60)}) {
      CHECK(refusal(text).starts_with("IR must nest at most 100 brackets deep, aliases included: got 101"));
    }
    // Aliases side by side, and uses of one within deep brackets that are not its own.
    std::string text = "#a = [1]\n#b = [#a]\nmodule {\n" + repeated(nested("(", "#a #b !x", ")", 40), 50) + "}\n";
    for (int i = 0; i < 200; ++i) {
      text += "#loc" + std::to_string(i) + " = loc(\"x\"(#a))\n\"tt.op\"() {a = #loc" + std::to_string(i) + "}\n";
    }
    CHECK(refusal(text) == "");
  }

  TEST_CASE("what no kernel needs is refused") {
    const std::string wanted = "IR must have no affine maps, sets and resources: got ";
    CHECK(refusal("affine_map<(d0) -> (d0" + repeated(" + d0", 100000) + ")>") == wanted + "affine_map in line 1");
    CHECK(refusal("affine_set<(d0) : (d0 >= 0)>") == wanted + "affine_set in line 1");
    CHECK(refusal("dense_resource<x>") == wanted + "dense_resource in line 1");
    CHECK(refusal("module {}\n{-# dialect_resources: {} #-}") == wanted + "{-# in line 2");
    CHECK(refusal("%affine_map = \"affine_map\"() : () -> !tt.affine_map") == "");
  }

  TEST_CASE("any bytes are looked at to their end") {
    for (const char *text : {"", "\"", "\"\\", "%", "#", "!", "{-", "-", "/", "//", "array<", "%a#", "\xff\xfe("}) {
      CHECK(refusal(text) == "");
    }
    CHECK(refusal(std::string("\0(\0)", 4)) == "");
  }

  TEST_CASE("what may be nested is parsed") {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    mlir::DialectRegistry registry;
    ir::registerDialects(registry);
    context.appendDialectRegistry(registry);
    std::string condition = nested("scf.if %c {\n", "", "}\n", 97);
    for (const std::string &text : {
             "module attributes {tt.a = " + nested("[", "", "]", 99) + "} {}",
             "module attributes {tt.a = " + nested("tuple<", "i32", ">", 99) + "} {}",
             nested("module {", "", "}", 100),
             "tt.func @f(%c: i1) {\n" + condition + "tt.return }",
         }) {
      REQUIRE(refusal(text) == "");
      CHECK(mlir::parseSourceString<mlir::ModuleOp>(text, mlir::ParserConfig(&context)));
    }
  }

  TEST_CASE("the corpus has nothing of it") {
    size_t count = 0;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(JITK_CORPUS)) {
      if (entry.is_regular_file()) {
        CAPTURE(entry.path().string());
        std::stringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        CHECK(refusal(text.str()) == "");
        ++count;
      }
    }
    CHECK(count > 10);
  }
}
