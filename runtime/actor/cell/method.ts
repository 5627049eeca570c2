/** Finds the methods of an actor class that handle the messages of its endpoints. */

export type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Returns the method of a class. A method that is a property of each instance, or that a getter returns, is looked up at
 * each call.
 */
export function methodOf(prototype: object, name: string): Method {
  const method = declaredProperty(prototype, name);
  if (typeof method === "function") return method as Method;
  return function methodOfInstance(this: unknown, ...args: unknown[]): unknown {
    const own = (this as Record<string, unknown>)[name];
    if (typeof own === "function") return own.apply(this, args);
    throw new TypeError(`cannot call ${name}: the actor class has no such method`);
  };
}

/** Returns a property as the class declares it. Getters are not called, because they expect an instance. */
function declaredProperty(prototype: object, name: string): unknown {
  for (let at: object | null = prototype; at !== null; at = Object.getPrototypeOf(at)) {
    const property = Object.getOwnPropertyDescriptor(at, name);
    if (property !== undefined) return property.value;
  }
  return undefined;
}
