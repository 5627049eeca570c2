/**
 * Tests of tensors need the addon, which needs libtorch. Where it has not been built they are left out, unless everything is to be tested
 * (VICEROY_PEERS is "required"): then its absence is an error.
 */
import { describe } from "vitest";
import { tensorAddonState } from "../../runtime/native/tensor.js";

const found = tensorAddonState();
if (found.addon === undefined) {
  if (process.env["VICEROY_PEERS"] === "required") {
    throw new Error(`cannot test tensors: ${found.why}. Run \`node dist/cli/viceroy.js setup --tensor\``);
  }
  console.warn(`skipped: tests of tensors (${found.why}; run \`npx viceroy setup --tensor\`)`);
}

/** Of tests that make tensors. */
export const describeTensors = describe.skipIf(found.addon === undefined);
