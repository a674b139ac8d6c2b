#include "src/ops/OpSchema.h"

#include "src/ops/Spelling.h"

#include <doctest/doctest.h>
#include <set>

using namespace jitk;

TEST_SUITE_BEGIN("ops/OpSchema");

static std::string failure(std::string_view line) {
  Result<Description> description = parseDescription(line);
  REQUIRE_FALSE(description.ok());
  CHECK(description.status().code() == StatusCode::InvalidArgument);
  return description.status().toString();
}

TEST_CASE("a description is complete, and its text reads back as itself") {
  Result<Description> description = parseDescription("matmul m=*<=64  n=4096 k=7168");
  REQUIRE(description.ok());
  CHECK(description->toString() == "matmul b_layout=row dtype=bf16 k=7168 m=*<=64 n=4096 out_dtype=bf16");
  CHECK(*parseDescription(description->toString()) == *description);
}

TEST_CASE("a default may be the value of another attribute") {
  Result<Description> description = parseDescription("matmul m=1 n=1 k=1 dtype=fp16");
  CHECK(description->word("out_dtype") == "fp16");
}

TEST_CASE("what the schema refuses is named with what was found and what is allowed") {
  CHECK(failure("nonsense m=1") == "op must be one of flash_attention, fp8_block_matmul, matmul: got 'nonsense'");
  CHECK(failure("matmul m=1 n=1 k=1 colour=red") ==
        "attribute of matmul must be one of m, n, k, dtype, out_dtype, b_layout: got 'colour'");
  CHECK(failure("matmul m=1 n=1 k=1 m=2") == "attribute must be given once: got 'm' twice");
  CHECK(failure("matmul m=1 n=1") == "attribute k of matmul must be given: columns of A");
  CHECK(failure("matmul m=1 n=1 k=1 dtype=int4") == "attribute dtype must be one of bf16, fp16: got 'int4'");
  CHECK(failure("matmul m=0 n=1 k=1").find("got '0'; in attribute m") != std::string::npos);
  CHECK(failure("matmul m=-3 n=1 k=1").find("got '-3'; in attribute m") != std::string::npos);
  CHECK(failure("matmul m=3000000000 n=1 k=1") == "attribute m must be between 1 and 2147483647: got '3000000000'");
  CHECK(failure("flash_attention heads=8 seq_q=1 head_dim=7") ==
        "attribute head_dim must be an integer between 16 and 512: got '7'");
  CHECK(failure("flash_attention heads=8 seq_q=1 head_dim=100") ==
        "attribute head_dim must be a multiple of 16: got '100'");
  CHECK(failure("flash_attention heads=8 seq_q=1 head_dim=64 value_dim=40") ==
        "attribute value_dim must be a multiple of 16: got '40'");
  CHECK(failure("flash_attention heads=8 kv_heads=3 seq_q=1 head_dim=64") ==
        "attribute heads must be a multiple of kv_heads 3: got '8'");
  CHECK(failure("flash_attention heads=8 seq_q=1 head_dim=64 causal=yes") ==
        "attribute causal must be true or false: got 'yes'");
  CHECK(failure("matmull m=1") ==
        "op must be one of flash_attention, fp8_block_matmul, matmul (did you mean matmul?): got 'matmull'");
  CHECK(failure("matmul m=1 n=1 k=1 dtpye=bf16") ==
        "attribute of matmul must be one of m, n, k, dtype, out_dtype, b_layout (did you mean dtype?): got 'dtpye'");
  CHECK(failure("matmul m=1 n=1 k=1 dtype=b16") ==
        "attribute dtype must be one of bf16, fp16 (did you mean bf16?): got 'b16'");
  CHECK(failure("") == "description must begin with the name of an op: got ''");
  CHECK(failure("matmul m") == "attribute must be written name=value: got 'm'");
}

TEST_CASE("ops are in the order of their names, and each table is sound") {
  std::string_view previous;
  for (const OpSchema &op : allOps()) {
    CAPTURE(op.name);
    CHECK(previous < op.name);
    previous = op.name;
    std::set<std::string_view> names;
    for (const AttributeSchema &attribute : op.attributes) {
      CAPTURE(attribute.name);
      // A default by reference needs its attribute before it.
      if (attribute.defaultValue.starts_with('@')) {
        CHECK(names.count(attribute.defaultValue.substr(1)) == 1);
      }
      CHECK(names.insert(attribute.name).second);
      CHECK_FALSE(attribute.meaning.empty());
    }
    for (const TensorSchema &tensor : op.tensors) {
      bool known = !tensor.type.starts_with('@') || names.count(tensor.type.substr(1)) == 1;
      CHECK(known);
      bool flag = tensor.presentIf.empty() || names.count(tensor.presentIf) == 1;
      CHECK(flag);
    }
  }
}

TEST_CASE("the nearest word is the one with the fewest edits, if it is near") {
  std::vector<std::string_view> words = {"heads", "kv_heads", "head_dim", "causal"};
  CHECK(nearestWord("haeds", words) == "heads");
  CHECK(nearestWord("kvheads", words) == "kv_heads");
  CHECK(nearestWord("casual", words) == "causal");
  CHECK(nearestWord("headdim", words) == "head_dim");
  CHECK(nearestWord("m", words).empty());
  CHECK(nearestWord("", words).empty());
  CHECK(nearestWord("window", words).empty());
}

TEST_SUITE_END();
