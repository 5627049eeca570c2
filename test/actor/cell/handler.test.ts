/** These tests check the handlers of actor classes: how methods are found and called, and how results are awaited. */
import { describe, expect, test } from "vitest";
import { handlerById, handlersOf, interfaceOf, protobufVariant } from "../../../runtime/actor/cell/handler.js";
import { interceptedMethod } from "../../../runtime/actor/cell/intercepted-method.js";
import { invokeHandler, promiseFrom } from "../../../runtime/actor/cell/invoke.js";
import { methodOf } from "../../../runtime/actor/cell/method.js";
import { currentTurn, runInTurn } from "../../../runtime/actor/context.js";
import type { ActorClass } from "../../../runtime/actor/reference/actor-request.js";
import type { BoundEndpoint } from "../../../runtime/link/frame/binding.js";
import { FrameFlag, FrameKind } from "../../../runtime/link/frame/frame.js";
import { codec } from "../../../runtime/wire/composed/index.js";
import { defineActor, defineArgs, type EndpointDescriptor } from "../../../runtime/wire/descriptor.js";
import type { EndpointInterceptor } from "../../../runtime/wire/endpoint-interceptor.js";
import { Counter, counterDescriptor } from "../counter.js";
import { Parts, settled } from "../parts.js";

describe("the method of an endpoint", () => {
  class Base {
    inherited(): string {
      return "inherited";
    }
  }
  class Actor extends Base {
    readonly own: (() => unknown) | string;
    constructor(own: (() => unknown) | string) {
      super();
      this.own = own;
    }
    declared(): string {
      return "declared";
    }
    get made(): unknown {
      return (...args: unknown[]) => [this.own, args];
    }
  }
  const called = (name: string, self: object, ...args: unknown[]) => methodOf(Actor.prototype, name).apply(self, args);

  test("is the method that the class declares or inherits", () => {
    expect(methodOf(Actor.prototype, "declared")).toBe(Actor.prototype.declared);
    expect(methodOf(Actor.prototype, "inherited")).toBe(Base.prototype.inherited);
  });

  test("is looked up in the instance if it is an instance property or a getter", () => {
    expect(
      called(
        "own",
        new Actor(function (this: unknown, ...args: unknown[]) {
          return [this instanceof Actor, args];
        }),
        1,
        2,
      ),
    ).toEqual([true, [1, 2]]);
    expect(called("made", new Actor("a"), 3)).toEqual(["a", [3]]);
  });

  test.each(["own", "missing"])("throws TypeError if the property is missing or is no function: %s", (name) => {
    expect(() => called(name, new Actor("no function"))).toThrow(
      new TypeError(`cannot call ${name}: the actor class has no such method`),
    );
  });
});

describe("a handler method", () => {
  test.each([[[]], [[1]], [[1, 2]], [[1, 2, 3]], [[1, 2, 3, 4]]])(
    "gets the actor as this, and exactly the arguments that were sent: %j",
    (args) => {
      const parts = new Parts();
      const turn = parts.turn(
        function (this: unknown, ...got: unknown[]) {
          return [this, got];
        },
        { args },
      );
      expect(runInTurn(turn, invokeHandler)).toEqual([parts.cell.instance, args]);
    },
  );
});

describe("the result of a handler method", () => {
  const turn = new Parts().turn(() => {});
  const promise = (value: unknown) => promiseFrom(turn, value);
  const withThen = (then: unknown): object => ({ then });

  test.each([
    [undefined],
    [null],
    [0],
    ["text"],
    [() => {}],
    [{}],
    [withThen(5)],
    [withThen(null)],
    [Object.create(null)],
  ])("is not awaited if it is a plain value: %j", (value) => {
    expect(promise(value)).toBe(undefined);
  });

  test("is used unchanged if it is a promise", () => {
    const given = Promise.resolve(5);
    expect(promise(given)).toBe(given);
  });

  test("may be any object or function with a method then, which runs in the turn of the handler", async () => {
    const seen: unknown[] = [];
    const then = (resolve: (value: unknown) => void): void => {
      seen.push(currentTurn());
      resolve("later");
      resolve("again");
      throw new Error("too late to matter");
    };
    const made = [promise(withThen(then)), promise(Object.assign(() => {}, withThen(then)))];
    for (const each of made) expect(each).toBeInstanceOf(Promise);
    expect(await Promise.all(made)).toEqual(["later", "later"]);
    expect(seen).toEqual([turn, turn]);
  });

  test("is awaited through its own method then if it is a promise that overrides then", async () => {
    const odd = Object.assign(
      Promise.resolve("first"),
      withThen((resolve: (value: string) => void) => resolve("second")),
    );
    expect(promise(odd)).not.toBe(odd);
    expect(await promise(odd)).toBe("second");
  });

  test("becomes a rejected promise if its method then throws", async () => {
    await expect(promise(withThen(Promise.prototype.then))).rejects.toThrow(TypeError);
    const broken = withThen(() => {
      throw new RangeError("broken");
    });
    await expect(promise(broken)).rejects.toThrow(new RangeError("broken"));
  });
});

describe("the handlers of a class", () => {
  const base = defineActor({
    key: "test/base#Base",
    name: "Base",
    id: 8,
    fingerprint: 8n,
    args: () => defineArgs(codec.tuple(), 0, 0),
    endpoints: () => ({ value: { id: 1, args: defineArgs(codec.tuple(), 0, 0) } }),
  });
  const middle = { ...base, key: "test/base#Middle", extends: [() => base] };
  const other = { ...base, key: "test/base#Other", extends: [] };
  const derived = { ...base, key: "test/base#Derived", extends: [() => other, () => middle] };

  test("interfaceOf finds the own interface and all extended ones by their keys", () => {
    const keys = ["Derived", "Other", "Middle", "Base"].map((name) => `test/base#${name}`);
    expect(keys.map((key) => interfaceOf(derived, key))).toEqual([derived, other, middle, base]);
    expect(keys.map((key) => interfaceOf(derived, key)?.key)).toEqual(keys);
    expect(interfaceOf(derived, "test/base#Nobody")).toBe(undefined);
  });

  test("are created once for each class and interface", () => {
    const actorClass = Counter as unknown as ActorClass;
    const handlers = handlersOf(actorClass, counterDescriptor);
    expect(handlersOf(actorClass, counterDescriptor)).toBe(handlers);
    expect(handlersOf(actorClass, base)).not.toBe(handlers);
    expect(handlersOf(class extends Counter {} as unknown as ActorClass, counterDescriptor)).not.toBe(handlers);
    expect(handlers.map(({ endpoint }) => endpoint)).toEqual(counterDescriptor.endpoints);
    expect(handlers[0]!.method).toBe(Counter.prototype.increment);
  });

  test("use the lockstep layout, or the protobuf layout if they are found by endpoint id", () => {
    const actorClass = Counter as unknown as ActorClass;
    const [increment, value] = handlersOf(actorClass, counterDescriptor);
    expect(increment).toMatchObject({ layout: 0, reply: FrameKind.reply, item: FrameKind.item });
    expect([increment!.result, value!.result]).toEqual([undefined, codec.int32]);
    const byId = (id: number) => handlerById(actorClass, counterDescriptor, { id } as BoundEndpoint);
    expect(byId(2)).toBe(protobufVariant(value!));
    expect(byId(2)).toMatchObject({
      layout: FrameFlag.protobuf,
      method: Counter.prototype.value,
      reply: FrameKind.reply | (FrameFlag.protobuf << 8),
      item: FrameKind.item | (FrameFlag.protobuf << 8),
    });
    expect([byId(1)!.result, byId(2)!.result === codec.int32, byId(99)]).toEqual([undefined, false, undefined]);
  });

  test("return credit with the answer, except for concurrent, @respond and stream endpoints", () => {
    const credits = handlersOf(Counter as unknown as ActorClass, counterDescriptor).map(
      ({ endpoint, creditWithAnswer }) => [endpoint.name, creditWithAnswer],
    );
    expect(Object.fromEntries(credits)).toMatchObject({
      value: true,
      increment: true,
      meanwhile: false,
      answer: false,
      watch: false,
    });
  });
});

describe("an endpoint with an interceptor", () => {
  let complete: Promise<void> | undefined;
  let events: unknown[];
  const interceptor = {
    beforeHandler: (args: unknown, turn: unknown) => {
      events.push(["beforeHandler", args, turn]);
      return complete;
    },
    beforeRetaining: (key: unknown) => {
      events.push(["beforeRetaining", key]);
      return () => events.push("ended");
    },
    retainResult: (name: string, key: unknown, value: unknown) => {
      events.push(["retainResult", name, key, value]);
      return "description";
    },
  } as unknown as EndpointInterceptor;

  /** Calls the method of an endpoint as the handler of a message. */
  function handle(endpoint: object, method: (...args: never[]) => unknown, args: unknown[], arrives: boolean) {
    events = [];
    let arrive = (): void => {};
    complete = arrives
      ? undefined
      : new Promise((resolve) => {
          arrive = () => resolve();
        });
    const parts = new Parts();
    const turn = parts.turn(interceptedMethod(interceptor, endpoint as EndpointDescriptor, method as never), { args });
    return { parts, turn, arrive, answer: runInTurn(turn, invokeHandler) };
  }

  test("calls its handler at once if the arguments are complete", () => {
    const { turn, parts, answer } = handle(
      {},
      function (this: unknown, ...args: unknown[]) {
        return [this, args];
      } as never,
      [1, 2],
      true,
    );
    expect(answer).toEqual([parts.cell.instance, [1, 2]]);
    expect(events).toEqual([["beforeHandler", [1, 2], turn]]);
  });

  test("calls its handler once the arguments have become complete", async () => {
    const { parts, arrive, answer } = handle(
      {},
      function (this: unknown, ...args: unknown[]) {
        events.push("begun");
        return [this, args];
      } as never,
      [1, 2],
      false,
    );
    await settled();
    expect(events.includes("begun")).toBe(false);
    arrive();
    expect(await answer).toEqual([parts.cell.instance, [1, 2]]);
  });

  test.each([true, false])("starts its stream once the arguments are complete (at once: %s)", async (arrives) => {
    const { parts, arrive, answer } = handle(
      { stream: true },
      async function* (this: unknown, ...args: unknown[]) {
        events.push("begun");
        yield this;
        yield* args;
      } as never,
      [1, 2],
      arrives,
    );
    const iterator = (answer as AsyncIterable<unknown>)[Symbol.asyncIterator]();
    const first = iterator.next();
    await settled();
    expect(events.includes("begun")).toBe(arrives);
    arrive();
    expect(await first).toEqual({ done: false, value: parts.cell.instance });
    const rest = [await iterator.next(), await iterator.next(), await iterator.next()];
    expect(rest.map(({ value }) => value)).toEqual([1, 2, undefined]);
  });

  const retaining = { retains: { name: "forward" } };
  test("retains the result, and tells the interceptor that the handler has ended", async () => {
    const { parts, turn, arrive, answer } = handle(
      retaining,
      async function (this: unknown, ...args: unknown[]) {
        events.push("begun");
        return [this, args];
      } as never,
      ["key", [1, 2]],
      false,
    );
    await settled();
    expect(events).toEqual([["beforeHandler", ["key", [1, 2]], turn]]);
    arrive();
    expect(await answer).toBe("description");
    const value = [parts.cell.instance, [1, 2]];
    expect(events.slice(1)).toEqual([
      ["beforeRetaining", "key"],
      "begun",
      ["retainResult", "forward", "key", value],
      "ended",
    ]);
  });

  test("retains nothing if its handler throws, and still tells the interceptor about the end", async () => {
    const { answer } = handle(
      retaining,
      () => {
        throw new RangeError("refused");
      },
      ["key", []],
      true,
    );
    await expect(answer).rejects.toThrow(new RangeError("refused"));
    expect(events.slice(1)).toEqual([["beforeRetaining", "key"], "ended"]);
  });
});
