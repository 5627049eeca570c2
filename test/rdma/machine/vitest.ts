/**
 * Replaces vitest in the virtual machine, where vitest would take a minute to start. It implements the part of vitest's
 * interface that these tests use, with vitest's `expect`. Tests run one after another, and each prints a line of JSON.
 */
import { chai, JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

export const expect = Object.assign((value: unknown, message?: string) => chai.expect(value, message), {
  fail: (message: string) => chai.expect.fail(message),
});

type Body = () => unknown;
type Declare = (name: string, body: Body, limit?: number) => void;

/** The result of a test, as the printed line contains it. */
export interface Outcome {
  readonly test: string;
  /** The error; absent if the test has passed. */
  readonly error?: string;
  readonly milliseconds: number;
}

interface Test {
  readonly name: string;
  readonly body: Body;
  readonly limit: number;
  readonly before: readonly Body[];
  readonly after: readonly Body[];
}

const defaultLimit = 300_000;
const found: Test[] = [];
let names: readonly string[] = [];
let before: readonly Body[] = [];
let after: readonly Body[] = [];
const begun = new Set<Body>();
const atEnd: Body[] = [];

const declareTest: Declare = (name, body, limit = defaultLimit) => {
  found.push({ name: [...names, name].join(" > "), body, limit, before, after });
};

const declareGroup: Declare = (name, body) => {
  const outer = [names, before, after] as const;
  names = [...names, name];
  body();
  [names, before, after] = outer;
};

function skippable(declare: Declare) {
  const skip: Declare = () => undefined;
  return Object.assign(declare.bind(undefined), { skip, skipIf: (no: boolean) => (no ? skip : declare) });
}

export const test = skippable(declareTest);
export const it = test;
export const describe = skippable(declareGroup);

/** Runs a function once, before the first test of the enclosing group, as in vitest. */
export function beforeAll(body: Body): void {
  before = [
    ...before,
    async () => {
      if (begun.has(body)) return;
      begun.add(body);
      await body();
    },
  ];
}

export function beforeEach(body: Body): void {
  before = [...before, body];
}

export function afterEach(body: Body): void {
  after = [body, ...after];
}

export function afterAll(body: Body): void {
  atEnd.unshift(body);
}

/** Runs all declared tests, and ends the process with code 0 if all have passed, and otherwise with 1. */
export async function runAll(): Promise<never> {
  let failed = 0;
  for (const one of found) {
    const begin = performance.now();
    const error = await errorOf(one);
    if (error !== undefined) failed++;
    const milliseconds = Math.round(performance.now() - begin);
    process.stdout.write(
      `${JSON.stringify({ test: one.name, milliseconds, ...(error && { error }) } satisfies Outcome)}\n`,
    );
  }
  for (const body of atEnd) await body();
  process.exit(failed === 0 ? 0 : 1);
}

async function errorOf({ body, limit, before, after }: Test): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${limit} ms`)), limit);
  });
  try {
    for (const hook of before) await hook();
    await Promise.race([body(), late]);
    for (const hook of after) await hook();
    return undefined;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  } finally {
    clearTimeout(timer);
  }
}
