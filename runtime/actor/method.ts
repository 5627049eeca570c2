/** The methods of an actor class that take the messages of its endpoints. */

export type Method = (this: unknown, ...args: unknown[]) => unknown;

/** The method of the class; a method that is a property of each instance is looked up when it is called. */
export function methodOf(prototype: Record<string, unknown>, name: string): Method {
  const method = prototype[name];
  if (typeof method === "function") return method as Method;
  return function ofInstance(this: unknown, ...args: unknown[]): unknown {
    const own = (this as Record<string, unknown>)[name];
    if (typeof own === "function") return own.apply(this, args);
    throw new TypeError(`cannot call ${name}: the actor class has no such method`);
  };
}
