/**
 * The names of the actors of a context. A name belongs to the first request for it, from the moment it arrives until the
 * creation fails or the actor ends, so that two requests never create two actors. This is data alone: it sends nothing.
 */
import { ActorNameTakenError } from "../errors.js";

/** A request for the actor with a name. */
export interface NameRequest {
  readonly name: string;
  /** The id of the requested class. */
  readonly classId: string;
  /** Whether the request also asks for an actor that exists already. */
  readonly getIfExists: boolean;
  /** The time of the request in milliseconds since 1970. */
  readonly at: number;
}

/** The outcome of a request: a creation that the caller carries out, or the actor. */
export type NameClaim<A> =
  | { readonly kind: "create"; readonly creation: NameCreation<A> }
  | { readonly kind: "found"; readonly actor: Promise<A> };

/** A creation under way. Exactly one of its methods is called, once. */
export interface NameCreation<A> {
  created(actor: A): void;
  /** Frees the name. All who wait for the actor get the error. */
  failed(error: Error): void;
}

interface Named<A> {
  readonly classId: string;
  readonly since: number;
  readonly actor: Promise<A>;
  /** Undefined while the actor is being created. */
  created: A | undefined;
}

export class ActorNames<A> {
  readonly #names = new Map<string, Named<A>>();

  /** The number of names that are in use. */
  get size(): number {
    return this.#names.size;
  }

  /**
   * @throws ActorNameTakenError if another actor has the name, and the request does not ask for it
   * @throws TypeError if the request asks for it, and the actor is of another class
   */
  claim(request: NameRequest): NameClaim<A> {
    const { name, classId, at } = request;
    const known = this.#names.get(name);
    if (known === undefined) return { kind: "create", creation: this.#create(name, classId, at) };
    if (!request.getIfExists) throw nameTakenError(name, known.classId, known.since, known.created !== undefined);
    checkClass(name, known.classId, classId);
    return { kind: "found", actor: known.actor };
  }

  /** Returns the actor with a name, also one that is being created; undefined if there is none. */
  find(name: string): Promise<A> | undefined {
    return this.#names.get(name)?.actor;
  }

  /** Returns the actor that has a name now; undefined if there is none, or if it is being created. */
  living(name: string): A | undefined {
    return this.#names.get(name)?.created;
  }

  /** Frees a name if the given actor has it. */
  free(name: string, actor: A): void {
    if (this.#names.get(name)?.created === actor) this.#names.delete(name);
  }

  #create(name: string, classId: string, since: number): NameCreation<A> {
    let resolve!: (actor: A) => void;
    let reject!: (error: Error) => void;
    const actor = new Promise<A>((onCreated, onFailed) => {
      resolve = onCreated;
      reject = onFailed;
    });
    actor.catch(() => {});
    const named: Named<A> = { classId, since, actor, created: undefined };
    this.#names.set(name, named);
    return {
      created: (made) => {
        named.created = made;
        resolve(made);
      },
      failed: (error) => {
        this.#names.delete(name);
        reject(error);
      },
    };
  }
}

/** @throws TypeError if an actor is of another class than the requested one */
export function checkClass(name: string, found: string, wanted: string): void {
  if (found === wanted) return;
  throw new TypeError(
    `cannot get actor ${JSON.stringify(name)}: expected an actor of ${wanted}, and the actor with this name is of ${found}; ` +
      "take another name, or ask for that class",
  );
}

/**
 * @param classId the class of the actor that has the name
 * @param since the time of the request for that actor, in milliseconds since 1970
 * @param isCreated whether that actor lives; false: it is being created
 */
export function nameTakenError(name: string, classId: string, since: number, isCreated: boolean): Error {
  const time = new Date(since).toISOString();
  const state = isCreated ? `has the name since ${time}` : `is being created under the name since ${time}`;
  return new ActorNameTakenError(
    `cannot create actor ${JSON.stringify(name)}: an actor of ${classId} ${state}; take another name, ` +
      `set getIfExists to get that actor, or end it by context.stopActor(${JSON.stringify(name)})`,
  );
}
