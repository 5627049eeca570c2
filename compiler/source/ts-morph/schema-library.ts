/**
 * The type library with which schema files are checked. It declares the types that a schema can use. It also declares
 * the names of types that a schema cannot use, so that they are rejected with advice. Reading TypeScript's own library
 * takes longer than reading a large schema.
 */

/** The types that no schema can use. All of their type parameters are optional. */
const refused = {
  plain: [
    ..."ArrayBuffer SharedArrayBuffer DataView RegExp Error TypeError RangeError AggregateError URL URLSearchParams".split(
      " ",
    ),
    ..."Blob File FormData Headers Request Response AbortSignal AbortController EventTarget Event Buffer".split(" "),
    ..."BigInt Intl Math JSON Disposable AsyncDisposable Temporal ArrayBufferView DisposableStack TextEncoder".split(
      " ",
    ),
  ],
  generic: [
    ..."Promise PromiseLike Iterable Iterator IterableIterator Generator AsyncIterable AsyncIterator".split(" "),
    ..."AsyncIterableIterator AsyncGenerator WeakMap WeakSet WeakRef Proxy ReadableStream WritableStream".split(" "),
    ..."ArrayLike IteratorObject AsyncIteratorObject ThisType TransformStream MapIterator SetIterator".split(" "),
  ],
};

const typedArrays = [
  ..."Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array".split(" "),
  ..."Float32Array Float64Array BigInt64Array BigUint64Array Float16Array".split(" "),
];

const text = `
interface Object { valueOf(): Object; }
interface Function { readonly prototype: any; }
interface CallableFunction extends Function {}
interface NewableFunction extends Function {}
interface IArguments {}
interface Boolean { valueOf(): boolean; }
interface Number { valueOf(): number; }
interface String { readonly length: number; readonly [index: number]: string; }
interface Symbol { valueOf(): symbol; }
interface SymbolConstructor { readonly iterator: unique symbol; readonly asyncIterator: unique symbol; }
declare var Symbol: SymbolConstructor;
interface ReadonlyArray<T> { readonly length: number; readonly [n: number]: T; }
interface Array<T> { length: number; [n: number]: T; }
interface ConcatArray<T> { readonly length: number; }
interface TemplateStringsArray extends ReadonlyArray<string> {}
interface Date { getTime(): number; }
interface ReadonlyMap<K, V> { get(key: K): V | undefined; forEach(each: (value: V, key: K) => void): void; }
interface Map<K, V> { get(key: K): V | undefined; set(key: K, value: V): this; }
interface ReadonlySet<T> { has(value: T): boolean; forEach(each: (value: T) => void): void; }
interface Set<T> { has(value: T): boolean; add(value: T): this; }
type PropertyKey = string | number | symbol;
type Partial<T> = { [P in keyof T]?: T[P] };
type Required<T> = { [P in keyof T]-?: T[P] };
type Readonly<T> = { readonly [P in keyof T]: T[P] };
type Pick<T, K extends keyof T> = { [P in K]: T[P] };
type Record<K extends keyof any, T> = { [P in K]: T };
type Exclude<T, U> = T extends U ? never : T;
type Extract<T, U> = T extends U ? T : never;
type Omit<T, K extends keyof any> = Pick<T, Exclude<keyof T, K>>;
type NonNullable<T> = T & {};
type Parameters<T extends (...args: any) => any> = T extends (...args: infer P) => any ? P : never;
type ConstructorParameters<T extends abstract new (...args: any) => any> = T extends abstract new (...args: infer P) => any ? P : never;
type ReturnType<T extends (...args: any) => any> = T extends (...args: any) => infer R ? R : any;
type InstanceType<T extends abstract new (...args: any) => any> = T extends abstract new (...args: any) => infer R ? R : any;
type Awaited<T> = T extends Promise<infer V> ? V : T;
type Uppercase<S extends string> = intrinsic;
type Lowercase<S extends string> = intrinsic;
type Capitalize<S extends string> = intrinsic;
type Uncapitalize<S extends string> = intrinsic;
type NoInfer<T> = intrinsic;
`;

export function libraryText(): string {
  const opaque = (name: string) => `interface ${name} { readonly __opaque${name}: never; }`;
  const generic = (name: string) =>
    `interface ${name}<A = any, B = any, C = any> { readonly __opaque${name}: [A, B, C]; }`;
  const typedArray = (name: string) => `interface ${name}<B = any> { readonly __kind: "${name}"; readonly buffer: B; }`;
  return [text, ...refused.plain.map(opaque), ...refused.generic.map(generic), ...typedArrays.map(typedArray), ""].join(
    "\n",
  );
}
