#include "src/ops/UserKernel.h"

#include "src/ops/Quoting.h"

#include <doctest/doctest.h>

using namespace jitk;

namespace {

using Attributes = std::map<std::string, std::string>;

/// A description that is accepted, but for what `changes` says.
Result<Description> describeWith(const Attributes &changes) {
  Attributes attributes = {{"language", "cuda"},
                           {"source", "kernel text"},
                           {"entry", "k"},
                           {"arguments",
                            "x: read fp32[m, ceil(n/128)] align 16, o: written bf16[n+1], s: fp32, n: int32, "
                            "stride: int64 = 4*(n - 1), w: workspace = min(m, 8)*k, t: int32[k]"},
                           {"grid", "ceil(n/256), m, multiprocessors"},
                           {"block", "k, 4"},
                           {"workspace", "8*n"},
                           {"m", "*%2"},
                           {"n", "*<=4096"},
                           {"k", "32"}};
  for (const auto &[name, value] : changes) {
    attributes[name] = value;
  }
  std::vector<OpSchema::Given> given(attributes.begin(), attributes.end());
  return describe("user_kernel", given);
}

std::string problemOf(const Attributes &changes) {
  Result<Description> description = describeWith(changes);
  return description.ok() ? "" : description.status().toString();
}

} // namespace

TEST_SUITE("ops/UserKernel") {
  TEST_CASE("a description says how the kernel is launched") {
    Result<Description> description = describeWith({});
    REQUIRE_MESSAGE(description.ok(), description.status().toString());
    Result<UserKernel> read = readUserKernel(*description);
    REQUIRE(read.ok());
    const UserKernel &kernel = *read;
    CHECK(kernel.dimensions == std::vector<std::string>{"m", "n"});
    CHECK(kernel.staticSizes == std::vector<std::pair<std::string, int64_t>>{{"k", 32}});
    CHECK(kernel.block == std::array<uint32_t, 3>{32, 4, 1});
    const int64_t sizes[] = {10, 300};
    CHECK(kernel.grid[0].evaluate(sizes) == 2);
    CHECK(kernel.grid[1].evaluate(sizes) == 10);
    CHECK(kernel.grid[2].onDevice(132).evaluate(sizes) == 132);
    CHECK(kernel.workspaceBytes.evaluate(sizes) == 2400);

    REQUIRE(kernel.arguments.size() == 7);
    using Kind = UserArgument::Kind;
    const Kind kinds[] = {Kind::Tensor,    Kind::Tensor,    Kind::Scalar, Kind::Integer32,
                          Kind::Integer64, Kind::Workspace, Kind::Tensor};
    for (size_t i = 0; i < 7; ++i) {
      CAPTURE(i);
      CHECK(kernel.arguments[i].kind == kinds[i]);
    }
    CHECK(kernel.arguments[0].alignment == 16);
    CHECK(kernel.arguments[1].access == Access::Written);
    CHECK(kernel.arguments[3].value.evaluate(sizes) == 300);
    CHECK(kernel.arguments[4].value.evaluate(sizes) == 1196);
    CHECK(kernel.arguments[5].value.evaluate(sizes) == 256);
  }

  TEST_CASE("a scalar has any of the types that a launch can give") {
    Result<Description> description = describeWith(
        {{"arguments", "a: fp32, b: fp64, c: fp16, d: bf16, n: scalar int32, f: scalar int64, g: scalar uint32, "
                       "h: scalar uint64, i: scalar fp16, k: int32"}});
    REQUIRE_MESSAGE(description.ok(), description.status().toString());
    using enum ScalarType;
    CHECK(*scalarForms(*description) == std::vector<ScalarForm>{{"a", Fp32},
                                                                {"b", Fp64},
                                                                {"c", Fp16},
                                                                {"d", Bf16},
                                                                {"n", Int32}, // not the dimension
                                                                {"f", Int64},
                                                                {"g", UInt32},
                                                                {"h", UInt64},
                                                                {"i", Fp16}});
    CHECK(
        problemOf({{"arguments", "s: scalar int8"}})
            .find(
                "must have one of fp32, fp64, fp16, bf16, int32, int64, uint32, uint64 at character 11: got 'int8'") !=
        std::string::npos);
    CHECK(
        problemOf({{"arguments", "s: int8"}}).find("must have '[' and the sizes of a tensor at character 8: got ''") !=
        std::string::npos);
    CHECK(problemOf({{"arguments", "s: scalar"}}).find("uint64 at character 10: got ''") != std::string::npos);
    CHECK(problemOf({{"arguments", "s: uint32"}})
              .find("or 'scalar' before another type of a scalar, at character 4: got 'uint32'") != std::string::npos);
  }

  TEST_CASE("tensors have the shapes that are declared") {
    Result<Description> description = describeWith({});
    REQUIRE(description.ok());
    Result<std::vector<TensorShape>> shapes = tensorShapes(*description, {{"m", 10}, {"n", 300}});
    REQUIRE(shapes.ok());
    REQUIRE(shapes->size() == 3);
    CHECK((*shapes)[0].sizes == std::vector<int64_t>{10, 3});
    CHECK((*shapes)[1].sizes == std::vector<int64_t>{301});
    CHECK((*shapes)[2].sizes == std::vector<int64_t>{32});
    CHECK(tensorShapes(*description, {{"m", 11}, {"n", 300}}).status().message() ==
          "dimension m must be a multiple of 2: got 11");
  }

  TEST_CASE("the canonical text reads back, whatever is in the source") {
    Result<Description> description = describeWith(
        {{"source", "a \"quoted\\path\"\n\ttext \x01\x7f = \xc3\xa9"}, {"headers", "#header a b\nx = 1;\n"}});
    REQUIRE(description.ok());
    Result<Description> again = parseDescription(description->toString());
    REQUIRE_MESSAGE(again.ok(), again.status().toString());
    CHECK(*again == *description);
    CHECK(again->toString().find('\n') == std::string::npos);
  }

  TEST_CASE("a label tells sources apart without showing them") {
    std::string first = describeWith({{"source", std::string(1000, 'x')}})->label();
    std::string second = describeWith({{"source", std::string(1000, 'y')}})->label();
    CHECK(first.find("source=<1000 bytes ") != std::string::npos);
    CHECK(first != second);
  }

  TEST_CASE("each attribute is part of the text, and so of the key") {
    std::string text = describeWith({})->toString();
    for (const auto &[name, value] : Attributes{{"source", "other"},
                                                {"entry", "l"},
                                                {"grid", "n"},
                                                {"block", "64"},
                                                {"shared", "4"},
                                                {"workspace", "9*n"},
                                                {"options", "-DA=1"},
                                                {"headers", "#header h\n"},
                                                {"m", "*"},
                                                {"own", "3"}}) {
      CAPTURE(name);
      Result<Description> other = describeWith({{name, value}});
      REQUIRE_MESSAGE(other.ok(), other.status().toString());
      CHECK(other->toString() != text);
    }
  }

  TEST_CASE("what is wrong is named with its place") {
    CHECK(problemOf({{"grid", "ceil(n/k2)"}}) ==
          "attribute grid must have a number or the name of a dimension at character 8: got 'k2)'");
    CHECK(problemOf({{"grid", "n/2"}}) == "attribute grid must have ',' at character 2: got '/2'");
    CHECK(problemOf({{"grid", "ceil(n/m)"}}) ==
          "attribute grid must have a positive number as the divisor at character 9: got ')'");
    CHECK(problemOf({{"grid", "1,2,3,4"}}) == "attribute grid must have one to three numbers: got '1,2,3,4'");
    CHECK(problemOf({{"grid", std::string(40, '(') + "n"}}).find("parentheses no deeper than 16") != std::string::npos);
    CHECK(problemOf({{"grid", "n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-(n-n)))))))))))))"}}) == "");
    CHECK(problemOf({{"block", "n"}}) == "attribute block must be numbers with a product between 1 and 1024: got 'n'");
    CHECK(problemOf({{"block", "1024, 2"}}).find("product between 1 and 1024") != std::string::npos);
    CHECK(problemOf({{"shared", "n"}}).find("attribute shared must be a number between 0") == 0);
    CHECK(
        problemOf({{"arguments", "x: fp31[n]"}})
            .find(
                "must have one of fp16, bf16, fp32, fp64, e4m3, int8, uint8, int32, int64, or 'scalar' before another "
                "type of a scalar, at character 4: got 'fp31[n]'") != std::string::npos);
    CHECK(problemOf({{"arguments", "x: fp32[n*m]"}}).find("a size that is a number, a dimension") != std::string::npos);
    CHECK(problemOf({{"arguments", "x: fp32[n], x: fp32[n]"}}) == "argument must be there once: got 'x' twice");
    CHECK(problemOf({{"arguments", "z: int32"}}).find("since no dimension has the name z") != std::string::npos);
    CHECK(problemOf({{"arguments", "x: fp32[n] align 12"}}).find("a power of two up to 4096") != std::string::npos);
    CHECK(problemOf({{"arguments", "x fp32"}}) == "attribute arguments must have ':' at character 3: got 'fp32'");
    CHECK(problemOf({{"source", ""}}) == "attribute source of user_kernel must not be empty");
    CHECK(problemOf({{"min", "*"}}) == "dimension must not have the name of a function: got 'min'");
    CHECK(problemOf({{"language", "ttgir"}}) == "attribute block is for language cuda alone: got 'k, 4'");
    CHECK(problemOf({{"Own", "3"}}).find("attribute of user_kernel must be one of") == 0);
    CHECK(problemOf({{"gird", "ceil(n/2)"}}).find("in attribute gird") != std::string::npos);
  }

  TEST_CASE("what no key would hold is refused") {
    for (const char *option : {"-I/tmp", "-arch=sm_80", "--gpu-architecture=sm_80", "--pre-include=x.h", "-include=x.h",
                               "--include-path=/tmp", "-rdc=true", "plain"}) {
      CAPTURE(option);
      CHECK(problemOf({{"options", option}}).find("option ") == 0);
    }
    CHECK(problemOf({{"options", "-DA=1 --use_fast_math -lineinfo"}}) == "");
    CHECK(problemOf({{"source", "#include \"/etc/passwd\"\n"}}) ==
          "include must name one of the headers, or a header of the toolkit: got '\"/etc/passwd\"'");
    CHECK(problemOf({{"source", "#include <../a.h>\n"}}).find("include must name") == 0);
    CHECK(problemOf({{"headers", "#header a\n#include \"/b\"\n"}}).find("include must name") == 0);
    CHECK(problemOf({{"headers", "no mark"}}).find("attribute headers must begin with a line") == 0);
    CHECK(problemOf({{"source", "#include <cuda_fp16.h>\n#include \"mine.cuh\"\n"}}) == "");
  }

  TEST_CASE("a text of quotes and escapes reads back, and a bad one is refused") {
    for (std::string text : {"", "plain", "two words", "\"", "\\", "\\\"", "\n\t\x01", "a=b"}) {
      std::string line = quoteWord(text) + " rest";
      std::string_view rest = line;
      Result<std::string> word = takeWord(rest);
      REQUIRE(word.ok());
      CHECK(*word == text);
      CHECK(rest == " rest");
    }
    for (const char *bad : {"\"open", "\"\\q\"", "\"\\x1\"", "\"\\xzz\"", "\"\\"}) {
      CAPTURE(bad);
      std::string_view line = bad;
      CHECK(takeWord(line).status().code() == StatusCode::InvalidArgument);
    }
  }
}
