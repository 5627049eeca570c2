/** Plants bugs by replacing methods of the runtime from outside. The product contains no code for them. */

/** Plants a bug. @returns a function that removes it */
export type Plant = () => () => void;

/** A replacement of a method. */
export interface Replacement {
  /** The name of the method: `Mailbox.add`. */
  readonly replaces: string;
  readonly plant: Plant;
}

type Class<C> = { readonly prototype: C; readonly name: string };
type Original = (...args: never[]) => unknown;
type Method = (this: never, ...args: never[]) => unknown;

/**
 * Replaces a method or a getter.
 * @param make called each time the bug is planted; `every(n)` returns true at every n-th call
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

/** Calls the original of a replaced method. */
export function call(original: Original, self: unknown, args: readonly unknown[]): unknown {
  return Reflect.apply(original, self, args);
}

/** Makes every n-th call of a method do nothing. */
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

/** Makes every n-th call of a method run twice. */
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
