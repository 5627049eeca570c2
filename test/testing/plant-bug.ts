/** How bugs are planted: from outside, by something that stands in for a method of the runtime. The product has no switch for them. */

/** Plants a bug. @returns what takes it away again */
export type Plant = () => () => void;

/** What stands in for what. */
export interface Replacement {
  /** `Mailbox.add`. */
  readonly replaces: string;
  readonly plant: Plant;
}

type Class<C> = { readonly prototype: C; readonly name: string };
type Original = (...args: never[]) => unknown;
type Method = (this: never, ...args: never[]) => unknown;

/**
 * Something stands in for a method, or for a getter.
 * @param make called each time that the bug is planted; `every(n)` is true for every n-th time that it is asked
 */
export function replaceMethod<C extends object, K extends keyof C & string>(
  { prototype, name: of }: Class<C>,
  name: K,
  make: (original: Original, every: (n: number) => boolean) => Method,
): Replacement {
  const plant = (): (() => void) => {
    const original = Object.getOwnPropertyDescriptor(prototype, name);
    if (original === undefined) throw new Error(`cannot plant a bug: ${of} has no ${name} of its own`);
    let calls = 0;
    const every = (n: number): boolean => ++calls % n === 0;
    const { get, value } = original;
    const stand = get === undefined ? { value: make(value, every) } : { get: make(get as Original, every) };
    Object.defineProperty(prototype, name, { ...original, ...stand });
    return () => Object.defineProperty(prototype, name, original);
  };
  return { replaces: `${of.replace(/^_/, "")}.${name}`, plant };
}

/** Calls a method that something stands in for. */
export function call(original: Original, self: unknown, args: readonly unknown[]): unknown {
  return Reflect.apply(original, self, args);
}

/** Every n-th call of a method does nothing. */
export function skipEvery<C extends object, K extends keyof C & string>(of: Class<C>, name: K, n: number): Replacement {
  return replaceMethod(
    of,
    name,
    (original, every) =>
      function (this: unknown, ...args: unknown[]) {
        return every(n) ? undefined : call(original, this, args);
      } as Method,
  );
}

/** Every n-th call of a method is made twice. */
export function repeatEvery<C extends object, K extends keyof C & string>(
  of: Class<C>,
  name: K,
  n: number,
): Replacement {
  return replaceMethod(
    of,
    name,
    (original, every) =>
      function (this: unknown, ...args: unknown[]) {
        if (every(n)) call(original, this, args);
        return call(original, this, args);
      } as Method,
  );
}
