/** Modules: objects with parameters, and with modules in them. */

import { capturedEffects, refuseReplay } from "../operation/capture.js";
import type { Tensor } from "../value/tensor.js";
import { copyTensors, type TensorDict } from "../value/tensor-dict.js";
import { type ParameterKind, parameterKindOf } from "./parameter.js";

/** The options of `Module.loadStateDict`. */
export interface LoadStateOptions {
  /**
   * Whether the state must have exactly the names of the module. With false, the names that both have are loaded.
   * Default: true.
   */
  readonly strict?: boolean;
}

type ModuleEntry =
  | { readonly name: string; readonly module: Module }
  | { readonly name: string; readonly tensor: Tensor; readonly kind: ParameterKind };

/**
 * The base class of models. The state of a module consists of the tensors among its properties that {@link parameter}
 * or {@link buffer} has marked, and the state of the modules among its properties, also in arrays and plain objects.
 * Names are paths of properties: `blocks.0.weight`. Private properties (`#weight`) are not part of the state.
 *
 * @example
 * ```ts
 * import { nn, type Tensor, torch } from "viceroy/tensor";
 *
 * class Net extends nn.Module {
 *   hidden = new nn.Linear(2, 16);
 *   scale = nn.parameter(torch.ones([1]));
 *   forward(x: Tensor) {
 *     return this.hidden.forward(x).mul(this.scale);
 *   }
 * }
 * ```
 */
export abstract class Module {
  #isTraining = true;

  /** Whether the module behaves as in training. `train` and `eval` set it. */
  get training(): boolean {
    const was = this.#isTraining;
    capturedEffects()?.checks.push(() =>
      this.#isTraining === was ? undefined : "a module has begun or ceased to behave as in training",
    );
    return was;
  }

  set training(training: boolean) {
    refuseReplay("it sets whether a module behaves as in training");
    this.#isTraining = training;
  }

  /**
   * Returns the parameters with their names, in the order of properties. A parameter with several names appears once.
   */
  namedParameters(): [name: string, parameter: Tensor][] {
    const seen = new Set<Tensor>();
    return this.#tensors()
      .filter(({ tensor, kind }) => kind === "parameter" && !seen.has(tensor) && seen.add(tensor))
      .map(({ name, tensor }) => [name, tensor]);
  }

  /** Returns the parameters, each once. */
  parameters(): Tensor[] {
    return this.namedParameters().map(([, one]) => one);
  }

  /** Returns this module and all modules in it, each once. */
  modules(): Module[] {
    return [...new Set([this, ...this.#entries().flatMap((found) => ("module" in found ? [found.module] : []))])];
  }

  /** Returns the parameters and buffers by all their names. The tensors are not copied. */
  stateDict(): TensorDict {
    const state: Record<string, Tensor> = Object.create(null);
    for (const { name, tensor } of this.#tensors()) {
      if (name in state)
        throw new TypeError(`cannot name the state of ${this.#className}: two tensors are called ${name}`);
      state[name] = tensor;
    }
    return state;
  }

  /**
   * Copies elements into parameters and buffers. Floating-point numbers of other sizes are converted. If it throws,
   * nothing has been copied.
   *
   * @param state the tensors by their names
   * @param options whether all names must match
   * @throws {TypeError} when names, shapes or types do not match; the message lists them
   */
  loadStateDict(state: TensorDict, { strict = true }: LoadStateOptions = {}): void {
    copyTensors(this.stateDict(), state, this.#className, strict);
  }

  /**
   * Sets whether this module and all modules in it behave as in training.
   *
   * @param training default true
   * @returns this module
   */
  train(training = true): this {
    for (const module of this.modules()) module.training = training;
    return this;
  }

  /**
   * Ends training: the same as `train(false)`.
   *
   * @returns this module
   */
  eval(): this {
    return this.train(false);
  }

  /** Sets the gradients of all parameters to null, so that the next `backward` starts from zero. */
  zeroGrad(): void {
    for (const one of this.parameters()) one.grad = null;
  }

  /** Frees the parameters and buffers. Disposing again has no effect. */
  dispose(): void {
    for (const { tensor } of this.#tensors()) tensor.dispose();
  }

  /** Frees the parameters and buffers at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.dispose();
  }

  get #className(): string {
    return this.constructor.name || "a module";
  }

  #tensors() {
    return this.#entries().filter((found) => "tensor" in found);
  }

  /** Returns the parameters, buffers and modules, by their names. */
  #entries(): ModuleEntry[] {
    const found: ModuleEntry[] = [];
    const visit = (value: unknown, name: string, around: readonly object[]): void => {
      if (typeof value !== "object" || value === null) return;
      const kind = parameterKindOf(value);
      if (kind !== undefined) found.push({ name, tensor: value as Tensor, kind });
      else if (value instanceof Module || isContainer(value)) {
        if (around.includes(value))
          throw new TypeError(`cannot walk through ${this.#className}: ${name} leads back into itself`);
        if (value instanceof Module && value !== this) found.push({ name, module: value });
        for (const [key, inner] of Object.entries(value)) {
          visit(inner, name === "" ? key : `${name}.${key}`, [...around, value]);
        }
      }
    };
    visit(this, "", []);
    return found;
  }
}

function isContainer(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
