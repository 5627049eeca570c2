/** What optimizers have in common: which parameters, how many steps each has made, and what is kept for each. */
import { addon } from "../addon.js";
import { noGrad } from "../grad.js";
import { TensorScope } from "../scope.js";
import { copyTensors, type TensorDict } from "../state.js";
import { isTensor, type Tensor } from "../tensor.js";
import { torch } from "../torch.js";

/** What an optimizer goes on from. Numbers are known here at once, also of a mesh; tensors are where the parameters are. */
export interface OptimizerState {
  readonly lr: number;
  /** That each parameter has made; one without gradient makes none. */
  readonly steps: readonly number[];
  /** By kind and index of the parameter: `exp_avg.0`. */
  readonly tensors: TensorDict;
}

/** The parameters of one step that have gradients, with all that belongs to them at the same indices. */
export interface Group {
  readonly parameters: readonly Tensor[];
  readonly gradients: readonly Tensor[];
  /** Of each, with this one. */
  readonly steps: readonly number[];
  /** What is kept for each, of a kind. */
  kept(kind: string): readonly Tensor[];
}

/**
 * Changes parameters by their gradients. One operation of libtorch does the same to all of them, so that a step on a mesh is a few commands,
 * however many there are.
 */
export abstract class Optimizer {
  readonly parameters: readonly Tensor[];
  readonly #kept: ReadonlyMap<string, readonly Tensor[]>;
  #steps: number[];
  #lr: number;

  /**
   * @param kinds what is kept for each parameter; zeros at first
   * @throws TypeError, RangeError for parameters that cannot be optimized together, and for options
   */
  constructor(parameters: Iterable<Tensor>, lr: number, kinds: readonly string[]) {
    this.parameters = [...parameters];
    checkParameters(this.parameters);
    checkNumber("lr", lr);
    this.#lr = lr;
    this.#steps = this.parameters.map(() => 0);
    // Now, and not with the first step: who makes steps in a scope would lose what is made there.
    this.#kept = new Map(kinds.map((kind) => [kind, this.parameters.map((one) => torch.zeros_like(one))]));
  }

  /** The learning rate; may be changed between steps. @throws RangeError for what is none */
  get lr(): number {
    return this.#lr;
  }

  set lr(rate: number) {
    checkNumber("lr", rate);
    this.#lr = rate;
  }

  /** Changes all parameters that have gradients. */
  step(): void {
    using _ = new TensorScope();
    noGrad(() => {
      const gradients = this.parameters.map((one) => one.grad);
      const has = <T>(_: T, i: number) => gradients[i] !== null;
      const steps = this.#steps.map((made, i) => (gradients[i] === null ? made : made + 1));
      const group: Group = {
        parameters: this.parameters.filter(has),
        gradients: gradients.filter((one) => one !== null),
        steps: steps.filter(has),
        kept: (kind) => this.#kept.get(kind)!.filter(has),
      };
      if (group.parameters.length > 0) this.update(group);
      this.#steps = steps;
    });
  }

  /** Changes parameters, in place; tensors that it makes are disposed of. */
  protected abstract update(group: Group): void;

  /** Parameters have no gradients from now on, so that the next `backward` doesn't add to them. */
  zeroGrad(): void {
    for (const one of this.parameters) one.grad = null;
  }

  /** The tensors themselves, no copies. */
  stateDict(): OptimizerState {
    return { lr: this.#lr, steps: [...this.#steps], tensors: this.#tensors() };
  }

  /** Copies elements, and takes over the learning rate. All or none. @throws TypeError, RangeError that say what does not fit */
  loadStateDict({ lr, steps, tensors }: OptimizerState): void {
    checkNumber("lr", lr);
    if (!Array.isArray(steps) || steps.length !== this.parameters.length || !steps.every(isStepCount)) {
      throw new RangeError(
        `cannot load the state of ${this.constructor.name}: steps must be ${this.parameters.length} integers from 0 on, got ${JSON.stringify(steps)}`,
      );
    }
    copyTensors(this.#tensors(), tensors, this.constructor.name, true);
    this.#lr = lr;
    this.#steps = [...steps];
  }

  /** Frees what it keeps, and not the parameters. Idempotent. */
  dispose(): void {
    for (const one of Object.values(this.#tensors())) one.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }

  #tensors(): TensorDict {
    return Object.fromEntries([...this.#kept].flatMap(([kind, all]) => all.map((one, i) => [`${kind}.${i}`, one])));
  }
}

function checkParameters(parameters: readonly Tensor[]): void {
  if (parameters.length === 0) throw new RangeError("cannot make an optimizer: it has no parameters");
  if (!parameters.every(isTensor)) throw new TypeError("cannot make an optimizer: its parameters must be tensors");
  if (new Set(parameters).size < parameters.length) {
    throw new RangeError("cannot make an optimizer: a parameter is given twice");
  }
  const places = new Set(parameters.map((one) => addon().recordedReferenceOf(one)?.[0]));
  if (places.size > 1) throw new RangeError("cannot make an optimizer: its parameters are not all in one place");
}

/** @throws RangeError for what is no number from 0 on, below a limit */
export function checkNumber(name: string, value: number, below = Number.POSITIVE_INFINITY): void {
  if (value >= 0 && value < below) return;
  const range = below === Number.POSITIVE_INFINITY ? "from 0 on" : `from 0 to below ${below}`;
  throw new RangeError(`cannot optimize: ${name} must be a number ${range}, got ${value}`);
}

function isStepCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
