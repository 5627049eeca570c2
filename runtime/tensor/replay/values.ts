/** The arguments and results of recorded steps: tensors, plain values, and arrays and objects of them. */
import { describeValue } from "../../../shared/text/describe-value.js";
import { isTensor, type Tensor } from "../value/tensor.js";

/** A value whose tensors are listed separately. */
export interface FlatValue {
  /** Equal for values that differ in nothing but their tensors. */
  readonly text: string;
  readonly tensors: readonly Tensor[];
  /** Returns the value with other tensors. */
  readonly withTensors: (tensors: readonly Tensor[]) => unknown;
}

/**
 * Lists the tensors of a value.
 *
 * @param label begins the error message: `cannot call a recorded step: argument`
 * @param path the name of the value in the error message
 * @throws {TypeError} when the value contains something else
 */
export function flattenValue(value: unknown, label: string, path: string): FlatValue {
  const tensors: Tensor[] = [];
  const texts: string[] = [];
  const build = visit(value, { label, tensors, texts, around: [] }, path);
  return { text: texts.join(""), tensors, withTensors: build };
}

type Build = (tensors: readonly Tensor[]) => unknown;

interface Visited {
  readonly label: string;
  readonly tensors: Tensor[];
  readonly texts: string[];
  readonly around: object[];
}

function visit(value: unknown, visited: Visited, path: string): Build {
  const { tensors, texts } = visited;
  if (isTensor(value)) {
    const index = tensors.push(value) - 1;
    texts.push("T");
    return (given) => given[index];
  }
  if (typeof value === "object" && value !== null) return visitContainer(value, visited, path);
  if (typeof value === "function" || typeof value === "symbol") throw unsupported(value, visited, path);
  texts.push(typeof value === "string" ? JSON.stringify(value) : `${describeValue(value)};`);
  return () => value;
}

function visitContainer(value: object, visited: Visited, path: string): Build {
  const { texts, around } = visited;
  const isArray = Array.isArray(value);
  if (!isArray && !isPlainObject(value)) throw unsupported(value, visited, path);
  if (around.includes(value)) throw new TypeError(`${visited.label} ${path} must not contain itself`);
  around.push(value);
  texts.push(isArray ? "[" : "{");
  const named = isArray ? [...value.entries()] : Object.entries(value);
  const entries = named.map(([key, inner]) => {
    if (!isArray) texts.push(JSON.stringify(key), ":");
    return [key, visit(inner, visited, path === "" ? String(key) : `${path}.${key}`)] as const;
  });
  texts.push(isArray ? "]" : "}");
  around.pop();
  if (isArray) return (tensors) => entries.map(([, build]) => build(tensors));
  return (tensors) => Object.fromEntries(entries.map(([key, build]) => [key, build(tensors)]));
}

function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function unsupported(value: unknown, { label }: Visited, path: string): TypeError {
  return new TypeError(
    `${label} ${path} must be a tensor, a plain value, or an array or object of them, got ${describeValue(value)}`,
  );
}
