/**
 * Programs of random steps for `replay.property.test.ts`. A world runs the same events either plainly or by `recorded`, and notes
 * everything that can be seen after each event.
 */
import {
  manualSeed,
  noGrad,
  optim,
  type RecordedStep,
  recorded,
  type Tensor,
  TensorScope,
  tensor,
  torch,
} from "../../runtime/tensor/index.js";
import { RecorderAndWorker } from "./recorder-and-worker.js";

export const instructions = [
  ...["weights", "bias", "relu", "scale", "dropout", "random", "buffer", "constant", "rows", "seed", "flip"],
  ...[
    "change buffer",
    "change part of buffer",
    "change argument",
    "change parameter",
    "sort",
    "norms",
    "table",
    "change table",
  ],
] as const;

/** A step: its operations, and what it does with gradients. */
export interface StepPlan {
  readonly body: readonly (typeof instructions)[number][];
  readonly gradients: "none" | "replace" | "accumulate" | "remove" | "flat";
  readonly clip: boolean;
  readonly optimize: boolean;
  readonly results: readonly ("loss" | "hidden" | "view" | "argument" | "parameter" | "gradient")[];
}

/** The origin of the first argument of a call: a new tensor, that of the call before, or one that steps also use. */
export type ArgumentSource = "new" | "known" | "table" | "view of table";

export type Event =
  | {
      readonly kind: "call";
      readonly step: number;
      readonly rows: number;
      readonly from: ArgumentSource;
      readonly by: number;
      readonly noGrad: boolean;
    }
  | { readonly kind: "fail"; readonly step: number }
  | {
      readonly kind:
        | "change parameter"
        | "remove gradients"
        | "hold gradient"
        | "release"
        | "change rate"
        | "reset"
        | "freeze"
        | "replace gradient"
        | "change result"
        | "build graph"
        | "use graph"
        | "draw"
        | "view gradient"
        | "checkpoint";
    };

export interface WorldPlan {
  readonly optimizer: "SGD" | "momentum" | "Adam" | "AdamW";
  readonly steps: readonly StepPlan[];
  readonly events: readonly Event[];
}

type Step = (x: Tensor, rows: Tensor, options: { by: number }) => Tensor[];

class World {
  readonly pair: RecorderAndWorker;
  readonly weights = tensor([0.5, -0.25, 0.125, 1, 0.75, -0.5, 0.25, -1, 0.375], { shape: [3, 3], requiresGrad: true });
  readonly bias = tensor([0.1, 0.2, -0.3], { requiresGrad: true });
  readonly buffer = tensor([1, 2, 3]);
  readonly table = tensor([1, 2, 3, -1, 0, 0.5], { shape: [2, 3] });
  readonly optimizer: optim.Optimizer;
  readonly #flat: optim.FlatGradients | undefined;
  readonly steps: Step[];
  readonly seen: string[] = [];
  #arguments = new Map<number, [Tensor, Tensor]>();
  #held: Tensor[] = [];
  #results: Tensor[] = [];
  #graph: Tensor | undefined;
  #calls = 0;

  constructor(pair: RecorderAndWorker, plan: WorldPlan, wrap: (step: Step) => Step) {
    this.pair = pair;
    const parameters = [this.weights, this.bias];
    this.optimizer = {
      SGD: () => new optim.SGD(parameters, { lr: 0.1 }),
      momentum: () => new optim.SGD(parameters, { lr: 0.1, momentum: 0.9, nesterov: true, weightDecay: 0.01 }),
      Adam: () => new optim.Adam(parameters, { lr: 0.1, weightDecay: 0.01 }),
      AdamW: () => new optim.AdamW(parameters, { lr: 0.1 }),
    }[plan.optimizer]();
    this.#flat = plan.steps.some(({ gradients }) => gradients === "flat")
      ? new optim.FlatGradients(parameters)
      : undefined;
    this.steps = plan.steps.map((step) => wrap((x, rows, options) => this.#step(step, x, rows, options)));
  }

  #step(plan: StepPlan, x: Tensor, rows: Tensor, { by }: { by: number }): Tensor[] {
    if (plan.gradients === "replace") this.optimizer.zeroGrad();
    if (plan.gradients === "flat") this.#flat!.zero();
    let hidden = x;
    for (const name of plan.body) hidden = this.#apply(name, hidden, x, rows, by);
    const loss = hidden.square().mean();
    if (plan.gradients !== "none" && loss.requiresGrad) loss.backward();
    if (plan.clip) {
      for (const { grad } of [this.weights, this.bias]) if (grad !== null) grad.clamp_(-0.5, 0.5);
    }
    if (plan.optimize) this.optimizer.step();
    const results = plan.results.map((name) => {
      if (name === "loss") return loss;
      if (name === "hidden") return hidden;
      if (name === "view") return hidden.narrow(0, 1, 1).t();
      if (name === "argument") return x.narrow(0, 1, 1);
      if (name === "parameter") return this.weights.select(0, 1);
      return this.weights.grad ?? this.buffer;
    });
    if (plan.gradients === "remove") this.optimizer.zeroGrad();
    return results;
  }

  #apply(name: (typeof instructions)[number], hidden: Tensor, x: Tensor, rows: Tensor, by: number): Tensor {
    switch (name) {
      case "weights":
        return hidden.matmul(this.weights);
      case "bias":
        return hidden.add(this.bias);
      case "relu":
        return hidden.relu();
      case "scale":
        return hidden.mul(by);
      case "dropout":
        return torch.dropout(hidden, 0.25, true);
      case "random":
        return hidden.add(torch.randn([3]));
      case "buffer":
        return hidden.add(this.buffer);
      case "constant":
        return hidden.mul(tensor([1, 0.5, 2]));
      case "rows":
        return hidden.index_select(0, rows);
      case "flip":
        return hidden.flip([1]);
      case "sort":
        return hidden.sort(1)[0];
      case "norms":
        return torch.layer_norm(hidden, [3], this.bias);
      case "table":
        return hidden.shape[0] === 2 ? hidden.add(this.table) : hidden;
      case "change table":
        noGrad(() => this.table.mul_(0.75));
        return hidden;
      case "seed":
        manualSeed(by);
        return hidden;
      case "change buffer":
        noGrad(() => this.buffer.mul_(0.5).add_(hidden.mean([0])));
        return hidden;
      case "change part of buffer":
        noGrad(() => this.buffer.narrow(0, 1, 1).add_(1));
        return hidden;
      case "change argument":
        x.mul_(0.5);
        return hidden;
      case "change parameter":
        noGrad(() => this.bias.mul_(0.9));
        return hidden;
    }
  }

  #argumentsOf(rows: number, from: ArgumentSource): [Tensor, Tensor] {
    const known = this.#arguments.get(rows);
    if (known !== undefined && rows === 2 && from === "table") return [this.table, known[1]];
    if (known !== undefined && rows === 2 && from === "view of table")
      return [this.table.flatten().view([2, 3]), known[1]];
    if (known !== undefined && from !== "new") return known;
    for (const one of known ?? []) one.dispose();
    const x = torch.randn([rows, 3]);
    const made: [Tensor, Tensor] = [x, tensor(Array.from({ length: rows }, (_, i) => BigInt(i >> 1)))];
    this.#arguments.set(rows, made);
    return made;
  }

  handle(event: Event): void {
    using scope = new TensorScope();
    const holdGradient = (of: (gradient: Tensor) => Tensor) => {
      const { grad } = this.weights;
      if (grad !== null) this.#held.push(scope.keep(of(grad)));
    };
    const addResults = (results: readonly Tensor[]) => this.#results.push(...results.map((one) => scope.keep(one)));
    switch (event.kind) {
      case "call": {
        const [x, rows] = this.#argumentsOf(event.rows, event.from);
        for (const one of this.#arguments.get(event.rows) ?? []) scope.keep(one);
        const step = this.steps[event.step % this.steps.length]!;
        const call = () => step(x, rows, { by: event.by });
        addResults(event.noGrad ? noGrad(call) : call());
        break;
      }
      case "fail": {
        const [x, rows] = this.#argumentsOf(2, "new").map((one) => scope.keep(one));
        // Every second call uses an index that does not exist.
        const indices = rows!.add(this.#calls++ % 2 === 0 ? 2 : 0);
        addResults(this.steps[event.step % this.steps.length]!(x!, indices, { by: 3 }));
        break;
      }
      case "change parameter":
        noGrad(() => this.weights.add_(0.01));
        break;
      case "remove gradients":
        this.optimizer.zeroGrad();
        break;
      case "hold gradient":
        holdGradient((gradient) => gradient);
        break;
      case "view gradient":
        holdGradient((gradient) => gradient.select(0, 0));
        break;
      case "release":
        for (const one of this.#held.splice(0)) one.dispose();
        break;
      case "change rate":
        this.optimizer.lr = this.optimizer.lr === 0.1 ? 1 : 0.1;
        break;
      case "freeze":
        this.bias.requiresGrad = !this.bias.requiresGrad;
        break;
      case "replace gradient": {
        const { grad } = this.weights;
        this.weights.grad = grad === null ? torch.ones([3, 3]) : grad.mul(2);
        break;
      }
      case "change result":
        this.#results.at(-1)?.add_(1);
        break;
      case "build graph":
        this.#graph?.dispose();
        this.#graph = scope.keep(this.weights.mul(this.buffer).mul(this.weights).sum());
        break;
      case "use graph":
        this.#graph?.backward();
        this.#graph?.dispose();
        this.#graph = undefined;
        break;
      case "draw":
        addResults([torch.randn([2])]);
        break;
      case "checkpoint": {
        const { tensors, ...rest } = this.optimizer.stateDict();
        const copies = Object.fromEntries(Object.entries(tensors).map(([name, one]) => [name, one.clone()]));
        this.optimizer.loadStateDict({ ...rest, tensors: copies });
        break;
      }
      case "reset":
        for (const step of this.steps) if ("reset" in step) (step as RecordedStep<Parameters<Step>, Tensor[]>).reset();
    }
  }

  /** Notes everything that can be seen. */
  async look(): Promise<void> {
    const { tensors, ...state } = this.optimizer.stateDict();
    this.seen.push(JSON.stringify(state));
    const gradients = [this.weights, this.bias].map((one) => one.grad);
    const all = [
      ...[this.weights, this.bias, this.buffer, this.table, ...gradients, ...Object.values(tensors)],
      ...[...this.#arguments.values()].flat(),
      ...this.#held,
      ...this.#results,
    ];
    const texts = await Promise.all(all.map((one) => (one === null ? "null" : this.#text(one))));
    for (const one of gradients) one?.dispose();
    for (const one of this.#results.splice(0, Math.max(0, this.#results.length - 6))) one.dispose();
    this.seen.push(...texts);
  }

  async #text(one: Tensor): Promise<string> {
    try {
      using copy = await this.pair.fetch(one);
      using contiguous = copy.contiguous();
      const data = contiguous.data();
      const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("hex");
      return `${one} ${one.requiresGrad} ${bytes}`;
    } catch (error) {
      const { message, op, site } = error as Error & { op?: string; site?: string };
      return `${message} ${op} ${site}`;
    }
  }
}

/** Runs a plan. Returns what was seen, the number of replayed calls, and the number of tensors of the worker at the end. */
export async function runWorld(plan: WorldPlan, isRecorded: boolean) {
  const steps: RecordedStep<Parameters<Step>, Tensor[]>[] = [];
  const wrap = (step: Step): Step => {
    if (!isRecorded) return plainly(step);
    steps.push(recorded(step));
    return steps.at(-1)!;
  };
  using pair = new RecorderAndWorker();
  pair.seed(11, false);
  const world = pair.run(() => new World(pair, plan, wrap));
  for (const event of plan.events) {
    try {
      pair.run(() => world.handle(event));
    } catch (error) {
      world.seen.push((error as Error).message);
    }
    await world.look();
  }
  for (const step of steps) step.dispose();
  await pair.submit();
  // After a failed backward, a thread of libtorch releases tensors at some later time.
  const hasFailed = world.seen.some((text) => text.includes("cannot compute gradients"));
  const tensors = hasFailed ? undefined : (await pair.counts()).tensors;
  return {
    seen: world.seen,
    replayed: steps.reduce((sum, { calls }) => sum + calls.replayed, 0),
    tensors,
    reasons: steps.map(({ reason }) => reason),
  };
}

/** Runs a step as `recorded` does, without recording. */
function plainly(step: Step): Step {
  return (...args) => {
    using scope = new TensorScope();
    return step(...args).map((one) => scope.keep(one.detach()));
  };
}
