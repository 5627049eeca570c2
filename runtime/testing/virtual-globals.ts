/**
 * Replaces the global functions for time, waiting and random numbers while a simulation runs. For code of simulated
 * processes they are virtual; for other code they work as before. Actors need no changes for a simulation.
 */
import { AsyncResource } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { currentProcess } from "./current-process.js";
import type { ScheduledTask } from "./scheduler.js";
import type { SimulatedProcess } from "./simulated-process.js";
import type { World } from "./world.js";

type TimerCallback = (...args: unknown[]) => void;

/** The return value of the virtual `setTimeout`, `setInterval` and `setImmediate`. */
class VirtualTimer {
  task: ScheduledTask | undefined;
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  close(): this {
    if (this.task !== undefined) this.task.run = undefined;
    return this;
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

/** Replaces the global functions. Returns a function that restores them. */
export function installVirtualGlobals(world: World): () => void {
  const undo: (() => void)[] = [];
  const replace = <T extends object>(target: T, changes: Partial<Record<keyof T, unknown>>): void => {
    for (const [name, value] of Object.entries(changes)) {
      const before = Object.getOwnPropertyDescriptor(target, name);
      Object.defineProperty(target, name, { value, configurable: true, writable: true, enumerable: true });
      undo.push(() => {
        if (before === undefined) delete (target as Record<string, unknown>)[name];
        else Object.defineProperty(target, name, before);
      });
    }
  };
  const waiting = virtualTimers(world);
  replace(globalThis, { ...waiting, Date: virtualDate(world) });
  replace(timers, waiting);
  replace(timersPromises, virtualPromises(world));
  replace(performance, { now: virtualNow(world) });
  replace(Math, { random: virtualRandom(world) });
  replace(crypto, virtualCrypto(world));
  replace(AbortSignal, { timeout: virtualTimeout(world) });
  syncBuiltinESMExports();
  return () => {
    for (const one of undo.reverse()) one();
    syncBuiltinESMExports();
  };
}

function virtualTimers(world: World) {
  const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate };
  const clear = (kind: "clearTimeout" | "clearInterval" | "clearImmediate") => (timer: unknown) => {
    if (timer instanceof VirtualTimer) timer.close();
    else real[kind](timer as never);
  };
  return {
    setTimeout(run: TimerCallback, ms?: number, ...args: unknown[]): unknown {
      const process = currentProcess(world);
      if (process === undefined) return real.setTimeout(run, ms, ...args);
      return scheduleTimer(world, process, new VirtualTimer(), timerDelay(ms), bindContext(run, args));
    },
    setInterval(run: TimerCallback, ms?: number, ...args: unknown[]): unknown {
      const process = currentProcess(world);
      if (process === undefined) return real.setInterval(run, ms, ...args);
      const timer = new VirtualTimer();
      const task = bindContext(run, args);
      const again = (): void => {
        scheduleTimer(world, process, timer, timerDelay(ms), again);
        task();
      };
      return scheduleTimer(world, process, timer, timerDelay(ms), again);
    },
    setImmediate(run: TimerCallback, ...args: unknown[]): unknown {
      const process = currentProcess(world);
      if (process === undefined) return real.setImmediate(run, ...args);
      const timer = new VirtualTimer();
      const task = bindContext(run, args);
      let cancelled = false;
      timer.close = () => {
        cancelled = true;
        return timer;
      };
      process.clock.nextTurn(() => {
        if (!cancelled) task();
      });
      return timer;
    },
    clearTimeout: clear("clearTimeout"),
    clearInterval: clear("clearInterval"),
    clearImmediate: clear("clearImmediate"),
  };
}

function scheduleTimer(
  world: World,
  owner: SimulatedProcess,
  timer: VirtualTimer,
  ms: number,
  run: () => void,
): VirtualTimer {
  const { scheduler } = world;
  timer.task = scheduler.schedule(scheduler.now + ms, owner, "timer", run);
  return timer;
}

/** Returns the delay of a timer as Node.js computes it: at least 1 ms. */
function timerDelay(ms: number | undefined): number {
  const delay = Number(ms);
  return delay >= 1 && delay <= 0x7fff_ffff ? Math.trunc(delay) : 1;
}

/** Binds a callback to the asynchronous context of the caller, as real timers do. */
function bindContext(run: TimerCallback, args: readonly unknown[]): () => void {
  const resource = new AsyncResource("Timeout");
  return () => resource.runInAsyncScope(run, undefined, ...args);
}

function virtualPromises(world: World) {
  const real = { setTimeout: timersPromises.setTimeout, setImmediate: timersPromises.setImmediate };
  return {
    setTimeout(ms?: number, value?: unknown, options?: { signal?: AbortSignal }): Promise<unknown> {
      const process = currentProcess(world);
      if (process === undefined) return real.setTimeout(ms, value, options);
      return new Promise((resolve, reject) => {
        const timer = scheduleTimer(world, process, new VirtualTimer(), timerDelay(ms), () => resolve(value));
        const abort = (): void => {
          timer.close();
          reject(new DOMException("The operation was aborted", "AbortError"));
        };
        if (options?.signal?.aborted === true) abort();
        else options?.signal?.addEventListener("abort", abort, { once: true });
      });
    },
    setImmediate(value?: unknown): Promise<unknown> {
      const process = currentProcess(world);
      if (process === undefined) return real.setImmediate(value);
      return new Promise((resolve) => process.clock.nextTurn(() => resolve(value)));
    },
  };
}

function virtualDate(world: World): DateConstructor {
  const real = Date;
  const now = (): number => currentProcess(world)?.clock.epochMs() ?? real.now();
  return new Proxy(real, {
    construct(target, args, newTarget) {
      const given = args.length === 0 ? [now()] : args;
      return Reflect.construct(target, given, newTarget) as object;
    },
    apply: () => new real(now()).toString(),
    get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
  });
}

function virtualNow(world: World): () => number {
  const real = performance.now.bind(performance);
  return () => currentProcess(world)?.clock.now() ?? real();
}

function virtualRandom(world: World): () => number {
  const real = Math.random;
  return () => currentProcess(world)?.random.number() ?? real();
}

function virtualCrypto(world: World) {
  const real = { fill: crypto.getRandomValues.bind(crypto), uuid: crypto.randomUUID.bind(crypto) };
  const fill = <T extends ArrayBufferView>(target: T): T => {
    const random = currentProcess(world)?.random;
    if (random === undefined) return real.fill(target as never);
    const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = random.bits();
    return target;
  };
  const uuid = (): string => {
    if (currentProcess(world) === undefined) return real.uuid();
    const bytes = fill(new Uint8Array(16));
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = Buffer.from(bytes).toString("hex");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  };
  return { getRandomValues: fill, randomUUID: uuid };
}

function virtualTimeout(world: World): (ms: number) => AbortSignal {
  const real = AbortSignal.timeout.bind(AbortSignal);
  return (ms) => {
    const process = currentProcess(world);
    if (process === undefined) return real(ms);
    const controller = new AbortController();
    scheduleTimer(world, process, new VirtualTimer(), timerDelay(ms), () =>
      controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError")),
    );
    return controller.signal;
  };
}
