/**
 * The actor classes of a simulation. Every spawned class is known to all processes, because all of them run the same
 * code.
 */
import type { ActorClass } from "../actor/reference/actor-request.js";
import type { ClassReference } from "../proc/platform/actor-registry.js";
import type { ActorClasses } from "../proc/platform/platform.js";
import type { ActorDescriptor } from "../wire/descriptor.js";

const REGISTRY = "simulation:";

export class SimulatedActorClasses implements ActorClasses {
  readonly registryUrls: readonly string[] = [];
  readonly #classes = new Map<string, ActorClass>();
  readonly #references = new Map<ActorClass, ClassReference>();

  descriptorOf(actorClass: ActorClass): ActorDescriptor {
    const descriptor = typeof actorClass === "function" ? actorClass.descriptor : undefined;
    if (descriptor !== undefined) return descriptor;
    throw new TypeError(
      `cannot spawn an actor: expected a class that extends a generated actor, got ${String(actorClass)}`,
    );
  }

  referenceOf(actorClass: ActorClass): ClassReference {
    let reference = this.#references.get(actorClass);
    if (reference === undefined) {
      reference = { registry: REGISTRY, id: `${this.#references.size + 1}#${actorClass.name}` };
      this.#references.set(actorClass, reference);
      this.#classes.set(reference.id, actorClass);
    }
    return reference;
  }

  resolve(actorClass: ActorClass): Promise<ClassReference> {
    return Promise.resolve(this.referenceOf(actorClass));
  }

  restrictTo(): void {}

  async find({ id }: ClassReference): Promise<ActorClass> {
    const found = this.#classes.get(id);
    if (found === undefined) throw new Error(`cannot load ${id}: no process of the simulation has spawned it`);
    return found;
  }
}
