/** Tensors by names: the state of modules and optimizers, and the content of files. */
import { addon } from "../operation/addon.js";
import { noGrad } from "./grad.js";
import type { Tensor } from "./tensor.js";
import { TensorScope } from "./tensor-scope.js";
import { elementSize } from "./typed-array.js";

/** Tensors by their names. */
export type TensorDict = Readonly<Record<string, Tensor>>;

/** The largest size in bytes of a tensor of this process in an operation of a mesh. The addon has the same limit. docs/reference/limits.md */
const MAX_BYTES_BY_VALUE = 64 << 10;
/** The largest number of problems that an error message lists. */
const MAX_LISTED_PROBLEMS = 8;

/**
 * Copies elements into tensors, by name. Floating-point numbers of another size are converted. Copies either all tensors or none.
 * @param of the owner of the tensors, for error messages
 * @param strict whether both must have the same names
 * @throws {TypeError} when tensors do not fit; the message lists them
 */
export function copyTensors(into: TensorDict, from: TensorDict, of: string, strict: boolean): void {
  const both = Object.keys(into).filter((name) => Object.hasOwn(from, name));
  const problems = both.flatMap((name) => {
    const why = whyIncompatible(into[name]!, from[name]!);
    return why === undefined ? [] : [`${JSON.stringify(name)} ${why}`];
  });
  if (strict) {
    const lacks = (names: TensorDict, all: TensorDict) =>
      Object.keys(all).filter((name) => !Object.hasOwn(names, name));
    problems.unshift(...lacks(from, into).map((name) => `${JSON.stringify(name)} is missing`));
    problems.push(...lacks(into, from).map((name) => `${JSON.stringify(name)} is not known`));
  }
  if (problems.length > 0) {
    const more = problems.length - MAX_LISTED_PROBLEMS;
    const list = problems.slice(0, MAX_LISTED_PROBLEMS).join("; ");
    throw new TypeError(`cannot load the state of ${of}: ${list}${more > 0 ? `; and ${more} more` : ""}`);
  }
  using _ = new TensorScope();
  noGrad(() => {
    for (const name of both) into[name]!.copy_(from[name]!);
  });
}

/** Returns why the elements cannot be copied; undefined if they can. */
function whyIncompatible(target: Tensor, source: Tensor): string | undefined {
  const is = `${source.dtype}[${source.shape.join(", ")}]`;
  const wanted = `${target.dtype}[${target.shape.join(", ")}]`;
  const convertible = source.dtype === target.dtype || (isFloat(source) && isFloat(target));
  if (!convertible || source.shape.join() !== target.shape.join()) return `is ${is}, expected ${wanted}`;
  const [from] = addon().recordedReferenceOf(source) ?? [];
  const [to] = addon().recordedReferenceOf(target) ?? [];
  if (from === to) return undefined;
  if (from !== undefined) return `is on a mesh, and its target is ${to === undefined ? "here" : "on another one"}`;
  const bytes = source.shape.reduce((product, size) => product * size, elementSize(source.dtype));
  return bytes <= MAX_BYTES_BY_VALUE
    ? undefined
    : `is of this process, with ${bytes} bytes: load it where the mesh is active`;
}

function isFloat({ dtype }: Tensor): boolean {
  return dtype.startsWith("float") || dtype === "bfloat16";
}
