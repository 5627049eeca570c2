/** The codec of checkpoints, for stores of users. */
import { type Checkpoint, CheckpointCodec as GeneratedCodec } from "../../generated/checkpoint.js";
import type { Codec } from "../wire/codec.js";

/** Encodes and decodes checkpoints, for a {@link CheckpointStore} that keeps bytes. */
export const CheckpointCodec: Codec<Checkpoint> = GeneratedCodec;
