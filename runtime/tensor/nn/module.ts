/** Modules: objects with parameters, and with modules in them. */
import { copyTensors, type TensorDict } from "../state.js";
import type { Tensor } from "../tensor.js";
import { type ParameterKind, parameterKindOf } from "./parameter.js";

export interface LoadStateOptions {
  /** Whether the state has to have exactly the module's names. Default: true. Otherwise those that both have are loaded. */
  readonly strict?: boolean;
}

type ModuleEntry =
  | { readonly name: string; readonly module: Module }
  | { readonly name: string; readonly tensor: Tensor; readonly kind: ParameterKind };

/**
 * What models are made of. Its state are the tensors among its properties that `parameter` or `buffer` has marked, and that of the modules
 * among them; also in arrays and plain objects. Their names are the way to them: `blocks.0.weight`. Private names (`#weight`) are not seen.
 *
 *     class Net extends nn.Module {
 *       hidden = new nn.Linear(2, 16);
 *       scale = nn.parameter(torch.ones([1]));
 *       forward(x: Tensor) { return this.hidden.forward(x).mul(this.scale); }
 *     }
 */
export abstract class Module {
  /** Whether it behaves as in training: dropout does something. Set by `train` and `eval`. */
  training = true;

  /** Each once, although several names may lead to it, in the order of properties. */
  namedParameters(): [name: string, parameter: Tensor][] {
    const seen = new Set<Tensor>();
    return this.#tensors()
      .filter(({ tensor, kind }) => kind === "parameter" && !seen.has(tensor) && seen.add(tensor))
      .map(({ name, tensor }) => [name, tensor]);
  }

  /** Each once. */
  parameters(): Tensor[] {
    return this.namedParameters().map(([, one]) => one);
  }

  /** This one, and all in it; each once. */
  modules(): Module[] {
    return [...new Set([this, ...this.#entries().flatMap((found) => ("module" in found ? [found.module] : []))])];
  }

  /** The tensors themselves, no copies, by all of their names. */
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
   * Copies elements into parameters and buffers, converting floating-point numbers of another size. All or none.
   * @throws TypeError that lists names, shapes, types and places that do not fit
   */
  loadStateDict(state: TensorDict, { strict = true }: LoadStateOptions = {}): void {
    copyTensors(this.stateDict(), state, this.#className, strict);
  }

  /** Lets all modules in it behave as in training, or not. */
  train(training = true): this {
    for (const module of this.modules()) module.training = training;
    return this;
  }

  eval(): this {
    return this.train(false);
  }

  /** Parameters have no gradients from now on, so that the next `backward` doesn't add to them. */
  zeroGrad(): void {
    for (const one of this.parameters()) one.grad = null;
  }

  /** Frees its parameters and buffers. Idempotent. */
  dispose(): void {
    for (const { tensor } of this.#tensors()) tensor.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  get #className(): string {
    return this.constructor.name || "a module";
  }

  #tensors() {
    return this.#entries().filter((found) => "tensor" in found);
  }

  /** All that it has, by names. */
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
