/**
 * Tests of tensors need the addon, which needs libtorch. Where it has not been built they are left out, unless everything is to be tested
 * (VICEROY_PEERS is "required"): then its absence is an error.
 */
import { describe } from "vitest";
import { tensorAddonState } from "../../runtime/native/tensor-addon.js";
import { standIn } from "./nccl/stand-in.js";

const found = tensorAddonState();
if (found.addon === undefined) {
  if (process.env["VICEROY_PEERS"] === "required") {
    throw new Error(`cannot test tensors: ${found.why}. Run \`node dist/cli/viceroy.js setup --tensor\``);
  }
  console.warn(`skipped: tests of tensors (${found.why}; run \`npx viceroy setup --tensor\`)`);
}

/** Whether the addon is available. Tests that make tensors are skipped without it. */
export const hasTensors = found.addon !== undefined;
export const describeTensors = describe.skipIf(!hasTensors);

/**
 * The variables that make processes exchange elements by the network: none, or one set of them. The addon has to have Gloo for it, which is
 * required as well.
 */
export const networkVariables: readonly Readonly<Record<string, string>>[] = hasGloo()
  ? [{ VICEROY_TENSOR_LINES: "tcp", VICEROY_TENSOR_ADDRESS: "127.0.0.1" }]
  : [];

/** The transports of elements, with the variables that select them. */
export const exchangeKinds: readonly (readonly [kind: string, env: Readonly<Record<string, string>>])[] = [
  ["memory", {}],
  ...networkVariables.flatMap((env) => [
    ["the network", env] as const,
    ["a stand-in for NCCL beside the network", { ...env, ...standInVariables() }] as const,
  ]),
  ["a stand-in for NCCL", standInVariables()],
];

function standInVariables(): Readonly<Record<string, string>> {
  return found.addon === undefined ? {} : { VICEROY_NCCL: standIn() };
}

function hasGloo(): boolean {
  if (found.addon === undefined || found.addon.versions().gloo) return true;
  if (process.env["VICEROY_PEERS"] !== "required") return false;
  throw new Error(
    "cannot test tensors of several machines: the addon was built without Gloo. Install libgloo-dev, and build it again",
  );
}
