/** The function of the tasks of simulated contexts that make, read, keep and pass on references. */
import { JobContext } from "../../../runtime/tasks/index.js";
import type { Seeded } from "../../../runtime/testing/index.js";
import type { ReferenceRunner } from "./reference-steps.js";
import type { Hold, Parcel } from "./shared-value.js";

/**
 * - `make`: puts a value.
 * - `use`: uses the value that it is given.
 * - `take`: uses a value that its process keeps.
 */
export type ReferenceKind = "make" | "use" | "take";

export interface ReferencePlan {
  readonly kind: ReferenceKind;
  /** Whether the value is put into another one first. */
  readonly isBoxed: boolean;
  /** The time in ms for which its process keeps the value; 0: it does not. */
  readonly keeps: number;
  /** Whether the task returns the value. */
  readonly returns: boolean;
  /** The time in ms from the result until the process lets go of what it has returned. */
  readonly lingers: number;
  /** The duration of its work in ms. */
  readonly ms: number;
  readonly n: number;
  /** The plan of a task that this one starts, and to which it passes the value. */
  readonly child: ReferencePlan | undefined;
}

/** @param depth the number of levels of children that are possible */
export function drawReferencePlan(random: Seeded, kind: ReferenceKind, depth = 1): ReferencePlan {
  const plan = {
    kind,
    isBoxed: random.chance(0.25),
    keeps: random.chance(0.5) ? 1 + random.int(400) : 0,
    returns: kind !== "use" || random.chance(0.3),
    lingers: random.chance(0.5) ? 0 : random.int(5),
    ms: random.chance(0.3) ? random.int(20) : 0,
    n: random.int(6),
  };
  const kindOfChild = random.pick(["use", "use", "make", "take"] as const);
  const child = depth > 0 && random.chance(0.4) ? drawReferencePlan(random, kindOfChild, depth - 1) : undefined;
  return { ...plan, child };
}

/** A value that a task uses, with its hold. */
type Held = { readonly parcel: Parcel; readonly hold: Hold };

/** @param given the value that the caller has passed on */
export async function performReferences(
  runner: ReferenceRunner,
  order: number,
  given: Parcel | undefined,
): Promise<Parcel | undefined> {
  const { book, references } = runner;
  const { plan } = runner.order(order);
  const { simulation, process } = book;
  const context = JobContext.current();
  const held: Held[] = [];
  const first = plan.kind === "make" ? references.put(context) : begin();
  if (first === undefined) return undefined;
  held.push(first);
  try {
    if (plan.ms > 0) await simulation.sleep(plan.ms);
    if (plan.isBoxed) held.push(references.put(context, first.parcel));
    const last = held.at(-1)!;
    if (plan.child !== undefined) {
      const got = await runner.run(context, plan.child, plan.child.kind === "use" ? last : undefined);
      if (got !== undefined) held.push(got);
    }
    const inner = await references.read(held.at(-1)!.parcel);
    if (inner !== undefined) held.push(inner);
    const { parcel } = held.at(-1)!;
    const value = references.value(parcel.id);
    if (plan.keeps > 0) references.keep(parcel, value.hold(process, "it keeps it"), plan.keeps);
    if (!plan.returns) return undefined;
    runner.returns(order, parcel.id);
    return parcel;
  } finally {
    const letGo = () => {
      for (const { parcel, hold } of held) references.letGo(parcel.id, hold);
    };
    if (plan.returns) void simulation.sleep(plan.lingers).then(letGo);
    else letGo();
  }

  function begin(): Held | undefined {
    const parcel = plan.kind === "use" ? given : references.kept(plan.n);
    if (parcel === undefined) return undefined;
    if (parcel === given) references.got(parcel);
    return { parcel, hold: references.value(parcel.id).hold(process, "a task uses it") };
  }
}
