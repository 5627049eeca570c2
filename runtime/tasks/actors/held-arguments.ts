/**
 * The arguments of a call that is not sent at once, because it waits for a reference or for an earlier call. Values are
 * encoded when the call is made, so that the caller can change them afterwards, and wrong ones throw at once.
 */
import { errorMessage } from "../../../shared/text/error-message.js";
import { GeneratedCodec } from "../../codegen/v1/index.js";
import type { Codec } from "../../index.js";
import type { ComposedCodec } from "../kernel.js";
import { errorOfArgument } from "./call-errors.js";
import type { RefMaker } from "./ref-maker.js";

/** Returns the arguments, decoded. Rejects with the error of the first reference that has failed. */
export type HeldArguments = () => Promise<readonly unknown[]>;

/**
 * @param label the name of the actor and the endpoint: `counters.increment`
 * @param codec the codec of all arguments as one tuple
 * @throws CodecError or TypeError if a value has a wrong type
 */
export function holdArguments(
  label: string,
  codec: Codec<readonly unknown[]>,
  args: readonly unknown[],
  refs: RefMaker,
): HeldArguments {
  if (!args.some((arg) => refs.isRef(arg))) {
    const bytes = codec.encode(args);
    return async () => codec.decode(bytes);
  }
  const codecs = elementCodecs(codec);
  const held = args.map((arg, i): (() => unknown) => {
    if (refs.isRef(arg)) {
      const value = refs.read(arg).catch((cause: unknown) => {
        throw errorOfArgument(label, i, arg.label, cause);
      });
      value.catch(() => {});
      return () => value;
    }
    const element = codecs[i]!;
    const bytes = encodeElement(label, i, element, arg);
    return () => element.decode(bytes);
  });
  return () => Promise.all(held.map((value) => value()));
}

function encodeElement(label: string, index: number, codec: Codec<unknown>, value: unknown): Uint8Array {
  try {
    return codec.encode(value);
  } catch (cause) {
    throw new TypeError(`cannot call ${label}: argument ${index}: ${errorMessage(cause)}`, { cause });
  }
}

const known = new WeakMap<object, readonly Codec<unknown>[]>();

/** Returns the codecs of the elements of a tuple. */
function elementCodecs(codec: Codec<readonly unknown[]>): readonly Codec<unknown>[] {
  let codecs = known.get(codec);
  if (codecs === undefined) {
    const shape = codec instanceof GeneratedCodec ? codec.shape() : codec;
    codecs = (shape as ComposedCodec<unknown>).parts();
    known.set(codec, codecs);
  }
  return codecs;
}
