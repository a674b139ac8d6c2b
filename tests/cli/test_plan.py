"""jitk plan. The plans themselves are proven by unit_ops; here, how the verb reads, writes and refuses."""
import json
import unittest

from jitk_cli import ENVIRONMENT, MODELS, USAGE, CliTest

DEEPSEEK = MODELS / "deepseek-v3.json"
QWEN = MODELS / "qwen3-next-80b-a3b.json"


class Plan(CliTest):
    def write_model(self, model, **fields):
        """A copy of a model's configuration with fields replaced; None removes one."""
        values = json.loads(model.read_text()) | fields
        path = self.folder / "config.json"
        path.write_text(json.dumps({name: value for name, value in values.items() if value is not None}))
        return path

    def test_a_plan_goes_to_standard_output(self):
        result = self.jitk("plan", DEEPSEEK, "--tp", 8, "--max-tokens", 32)
        plan = json.loads(result.stdout)
        self.assertEqual(plan["jitk_plan"], 1)
        self.assertEqual(len(plan["kernels"]), 2 * 12 + 4)  # decoding and the experts depend on no bucket
        self.assertEqual(result.stderr, "")

    def test_a_plan_goes_to_a_file_and_what_is_missing_is_said(self):
        said = self.jitk("plan", QWEN, "--max-tokens", 16, "-o", "plan.json").stdout
        self.assertIn("plan.json: 14 kernels for qwen3_next, tensor parallelism 1, up to 16 tokens", said)
        self.assertIn("no op yet for: causal_conv1d, gated_rms_norm", said)
        self.assertEqual(len(json.loads((self.folder / "plan.json").read_text())["kernels"]), 14)

    def test_every_plan_can_be_prepared(self):
        for model in (DEEPSEEK, QWEN):
            self.jitk("plan", model, "--tp", 8, "--max-tokens", 16, "-o", "plan.json")
            self.jitk("prepare", "plan.json")

    def test_a_configuration_that_cannot_be_read(self):
        self.fails("plan", "nowhere.json", code=USAGE, says="nowhere.json")
        self.fails("plan", self.folder, code=USAGE, says="directory")
        (self.folder / "empty.json").write_text("")
        self.fails("plan", "empty.json", code=USAGE, says="must be a JSON object: got malformed JSON: line 1, column 1")

    def test_a_plan_that_cannot_be_written(self):
        self.fails("plan", QWEN, "-o", "nowhere/plan.json", code=ENVIRONMENT, says="cannot write nowhere/plan.json")

    def test_the_field_at_fault_is_named(self):
        for fields, says in (
            ({"model_type": "llama"}, "field model_type must be deepseek_v3 or qwen3_next: got 'llama'"),
            ({"hidden_size": None}, "field hidden_size must be an integer between 1 and 16777216: got none"),
            ({"hidden_size": "7168"}, 'field hidden_size must be an integer between 1 and 16777216: got "7168"'),
            ({"num_key_value_heads": 64}, "field num_key_value_heads must equal num_attention_heads 128: got 64"),
        ):
            with self.subTest(says):
                self.fails("plan", self.write_model(DEEPSEEK, **fields), code=USAGE, says=f"config.json: {says}")

    def test_options_out_of_range(self):
        self.fails("plan", QWEN, "--tp", 0, code=USAGE, says="--tp: must be a whole number between 1 and")
        self.fails("plan", QWEN, "--tp", "two", code=USAGE, says="two")
        self.fails("plan", QWEN, "--max-tokens", -1, code=USAGE, says="got '-1'")
        self.fails("plan", DEEPSEEK, "--tp", 3, code=USAGE, says="must give equal shares to 3 ranks: got 128")


if __name__ == "__main__":
    unittest.main()
