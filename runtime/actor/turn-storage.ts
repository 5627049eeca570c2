/**
 * Carries turns across awaits, timers and other asynchronous work, at the least cost that the running Node.js allows. Handlers whose work is
 * done when they return use none of it, so what each message pays matters most.
 *
 * Before Node.js 24, a value of an AsyncLocalStorage is a property of the resource that runs: `run` looks the resource up twice, and replaces and restores the
 * property. `ResourceMarks` only notes where the turn begins. It marks the resources that the code of the turn creates, as AsyncLocalStorage does, too.
 *
 * From Node.js 24 on, the values of all storages are one immutable map, promises carry it without a hook, and `run` copies it twice, to enter and to leave.
 * `LocalStorage` starts handlers by an AsyncResource, which switches to another map and back without a copy, so that only the one copy for the turn is left. That
 * saves 300 ns for each message, a fifth of the server's time.
 *
 * `npm run bench:rpc -- --only limit,viceroy` shows both.
 */
import {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  executionAsyncResource,
} from "node:async_hooks";

/** Knows the turn of continuations. The turn of code that runs synchronously is known to `context.ts`. */
export interface TurnStorage<T extends object> {
  /** Returns the turn that the running continuation belongs to, or undefined. */
  current(): T | undefined;
  /** Calls `body`, whose continuations belong to `turn`. */
  run(turn: T, body: () => unknown): unknown;
  /** Calls `body` as `run` does, but without the values that other AsyncLocalStorages have in the calling code, if that costs less. */
  start(turn: T, body: () => unknown): unknown;
  /** Calls `body(first, second)`, which another turn runs. Its continuations belong to `turn`, which has run until then, or to nobody. */
  keep<A, B>(turn: T | undefined, body: (first: A, second: B) => void, first: A, second: B): void;
}

/** The asynchronous context in which this module was loaded. */
const loadContext = new AsyncResource("ViceroyHandler");

/**
 * Creates the storage of this process. From then on every promise costs more.
 *
 * @param running returns the turn that runs synchronously
 */
export function createTurnStorage<T extends object>(running: () => T | undefined): TurnStorage<T> {
  return restoresValues(loadContext) ? new LocalStorage() : new ResourceMarks(running);
}

/**
 * Returns whether values that code sets inside of `context` are gone at its end, as from Node.js 24 on. The probe is needed because options of Node.js
 * change it in both directions.
 */
function restoresValues(context: AsyncResource): boolean {
  const probe = new AsyncLocalStorage<boolean>();
  context.runInAsyncScope(() => probe.enterWith(true));
  const isKept = context.runInAsyncScope(() => probe.getStore());
  probe.disable();
  return isKept === undefined;
}

const turnOfResource = Symbol("viceroy.turn");

class ResourceMarks<T extends object> implements TurnStorage<T> {
  /** The asynchronous scope in which the turn that runs synchronously was started, or `keptIn` of it while `keep` runs there. */
  #scope = 0;
  /** The turn that continuations belong to while `keep` runs. */
  #kept: T | undefined;

  constructor(running: () => T | undefined) {
    createHook({
      init: (_id, _type, _trigger, resource: { [turnOfResource]?: T }) => {
        const scope = executionAsyncId();
        let turn: T | undefined;
        if (scope === this.#scope) turn = running();
        else if (keptIn(scope) === this.#scope) turn = this.#kept;
        // Code of the turn may run a function in another scope, as `AsyncResource.runInAsyncScope` does.
        else turn = markOf(executionAsyncResource());
        if (turn !== undefined) resource[turnOfResource] = turn;
      },
    }).enable();
  }

  current(): T | undefined {
    return markOf(executionAsyncResource());
  }

  run(_turn: T, body: () => unknown): unknown {
    const outer = this.#scope;
    this.#scope = executionAsyncId();
    try {
      return body();
    } finally {
      this.#scope = outer;
    }
  }

  start(turn: T, body: () => unknown): unknown {
    return this.run(turn, body);
  }

  keep<A, B>(turn: T | undefined, body: (first: A, second: B) => void, first: A, second: B): void {
    const scope = this.#scope;
    // Inside of another `keep`, continuations stay those of its turn, and in another scope, those of the resource there.
    if (scope !== executionAsyncId()) {
      body(first, second);
      return;
    }
    const outer = this.#kept;
    this.#kept = turn;
    this.#scope = keptIn(scope);
    try {
      body(first, second);
    } finally {
      this.#kept = outer;
      this.#scope = scope;
    }
  }
}

/** Returns a number that is no scope, for `keep` in a scope. Scopes have numbers from 0, also more than 32 bits. */
function keptIn(scope: number): number {
  return -1 - scope;
}

function markOf<T>(resource: { [turnOfResource]?: T }): T | undefined {
  return resource[turnOfResource];
}

class LocalStorage<T extends object> implements TurnStorage<T> {
  readonly #storage = new AsyncLocalStorage<T>();
  readonly #enter = (turn: T, body: () => unknown): unknown => {
    this.#storage.enterWith(turn);
    return body();
  };

  current(): T | undefined {
    return this.#storage.getStore();
  }

  run(turn: T, body: () => unknown): unknown {
    return this.#storage.run(turn, body);
  }

  start(turn: T, body: () => unknown): unknown {
    return loadContext.runInAsyncScope(this.#enter, undefined, turn, body);
  }

  keep<A, B>(_turn: T | undefined, body: (first: A, second: B) => void, first: A, second: B): void {
    body(first, second);
  }
}
