/** The methods of an actor class that take the messages of its endpoints. */

export type Method = (this: unknown, ...args: unknown[]) => unknown;

/** The method of the class; one that each instance has as a property, or by a getter, is looked up when it is called. */
export function methodOf(prototype: object, name: string): Method {
  const method = declaredProperty(prototype, name);
  if (typeof method === "function") return method as Method;
  return function ofInstance(this: unknown, ...args: unknown[]): unknown {
    const own = (this as Record<string, unknown>)[name];
    if (typeof own === "function") return own.apply(this, args);
    throw new TypeError(`cannot call ${name}: the actor class has no such method`);
  };
}

/** The property as the class declares it. Getters are not called: they expect an instance. */
function declaredProperty(prototype: object, name: string): unknown {
  for (let at: object | null = prototype; at !== null; at = Object.getPrototypeOf(at)) {
    const property = Object.getOwnPropertyDescriptor(at, name);
    if (property !== undefined) return property.value;
  }
  return undefined;
}
