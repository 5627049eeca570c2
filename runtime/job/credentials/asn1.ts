/**
 * The encoder of certificates, which only the process that signs them loads. The build bundles it into `dist/asn1.js`,
 * and other bundles import that file.
 */
export {
  BitString,
  Boolean as Asn1Boolean,
  Constructed,
  fromBER,
  GeneralizedTime,
  Integer,
  ObjectIdentifier,
  OctetString,
  Primitive,
  Sequence,
  Set as Asn1Set,
  UTCTime,
  Utf8String,
} from "asn1js";
