/** What tests do with a generated client of shops, in a browser as in Node.js. Each scenario returns plain data. */
import { ConnectError } from "@connectrpc/connect";
import { actorFailure } from "viceroy/connect/v1";
import type { ShopClient } from "../generated/connect/shop.js";

export type Scenario = (shop: ShopClient, caller: string) => Promise<unknown>;

const tea = { name: "tea", cents: 350n, size: "small" } as const;

export const scenarios = {
  order: (shop) => shop.order([tea, { name: "größe ☕", cents: 2n ** 63n }], "hot"),

  absent: async (shop) => [await shop.name(), await shop.clear(), (await shop.order([])).items],

  follow: async (shop) => {
    const names: string[] = [];
    for await (const { items } of shop.follow(tea, 200)) names.push(items[0]!.name);
    return names;
  },

  /** Texts of every length around the limits at which codecs read and write differently. */
  texts: async (shop) => {
    const texts = [0, 1, 12, 13, 31, 32, 33, 255, 256, 700, 9000].flatMap((length) =>
      ["a", "é", "☕", "😀", "\ufeff"].map((unit) => unit.repeat(length)),
    );
    const { items } = await shop.order(texts.map((name) => ({ name, cents: 0n })));
    return items.every(({ name }, i) => name === texts[i]) && items.length === texts.length;
  },

  /** A request and an answer of 2 MB. */
  large: async (shop) => (await shop.order([{ name: "é".repeat(1_000_000), cents: 0n }])).items[0]!.name.length,

  soldOut: (shop) => refusal(shop.fail("SoldOutError")),

  invalid: async (shop) => [
    await refusal(shop.order([{ name: 5, cents: 1n }] as never)),
    await refusal((shop.order as unknown as () => Promise<unknown>)()),
    await refusal(Promise.resolve().then(() => shop.name.with({ timeout: -1 }))),
  ],

  late: async (shop, caller) => {
    let answer: unknown;
    // A call whose time ends before it has reached the actor is made again, and so is one that the actor has still answered in time.
    await until(async () => {
      answer = await refusal(shop.wait.with({ timeout: 300 })(caller));
      return typeof answer === "object" && (await shop.givenUp()).includes(caller);
    });
    return answer;
  },

  aborted: async (shop, caller) => {
    const leave = new AbortController();
    const waiting = refusal(shop.wait.with({ signal: leave.signal })(caller));
    await until(async () => (await shop.waiting()).includes(caller));
    leave.abort();
    const answer = await waiting;
    await until(async () => (await shop.givenUp()).includes(caller));
    return answer;
  },

  left: async (shop, caller) => {
    const seen: number[] = [];
    for await (const { items } of shop.follow({ name: caller, cents: 1n }, 4_000_000_000)) {
      if (seen.push(items.length) === 3) break;
    }
    await until(async () => (await shop.givenUp()).includes(caller));
    return seen;
  },

  header: (shop) =>
    shop.trace.with({ headers: { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" } })(),

  refused: (shop) => refusal(shop.name()),
} satisfies Record<string, Scenario>;

/** Returns what a client sees of the error of a call. */
async function refusal(call: Promise<unknown>): Promise<unknown> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ConnectError) {
    const failure = actorFailure(error);
    return { code: error.code, text: error.rawMessage, ...(failure && { failure }) };
  }
  return String(error);
}

/** Repeats a question, which each of two actors answers for itself, until the answer is yes. */
async function until(question: () => Promise<boolean>): Promise<void> {
  while (!(await question())) await new Promise((resolve) => setTimeout(resolve, 20));
}
