//! Arrow arrays as the columns of `sealift-columns`.

use super::{column_error, ffi};
use crate::errors::{Failure, Outcome, type_name, wrong_type};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ByteArrayType, ByteViewType, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, GenericByteArray, GenericByteViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyInt, PyString};
use sealift_columns::{
    Apart, ColumnError, IdKind, Ids, Integers, KeyId, Rows, Segment, Validity, Values,
};

/// The chunks of a Python object that speaks Arrow.
pub(super) fn chunks(object: &Bound<'_, PyAny>, name: &str) -> Outcome<(Vec<ArrayRef>, DataType)> {
    chunks_or(object, name, "give an Arrow array, for example of pyarrow or polars")
}

/// The same with what to say to another object.
fn chunks_or(
    object: &Bound<'_, PyAny>,
    name: &str,
    right: &str,
) -> Outcome<(Vec<ArrayRef>, DataType)> {
    let wrong = || wrong_type(format!("{name} is {}: {right}", type_name(object)));
    let named = |failure| match failure {
        Failure::Input(reason) => Failure::Input(format!("{name}: {reason}")),
        other => other,
    };
    Ok(ffi::read_chunks(object).map_err(named)?.ok_or_else(wrong)?)
}

/// Key ids or associated data as Python says them: one value for all rows, or a column.
pub(super) enum Given {
    One(KeyId),
    Column(Vec<ArrayRef>),
}

impl Given {
    /// Reads an int, a str, bytes or a column.
    pub(super) fn read(object: &Bound<'_, PyAny>, name: &str) -> Outcome<Self> {
        match key_id(object) {
            Some(id) => Ok(Self::One(id?)),
            None => {
                let right = "give an int, a str or bytes for all rows, or an Arrow array of them";
                Ok(Self::Column(chunks_or(object, name, right)?.0))
            }
        }
    }

    /// Reads associated data: a str, bytes or a column.
    pub(super) fn read_aad(object: &Bound<'_, PyAny>) -> Outcome<Self> {
        let right = "give a str or bytes for all rows, or an Arrow array of them";
        match key_id(object) {
            Some(Ok(KeyId::Bytes(bytes))) => Ok(Self::One(KeyId::Bytes(bytes))),
            _ => Ok(Self::Column(chunks_or(object, "aad", right)?.0)),
        }
    }

    fn chunks(&self) -> &[ArrayRef] {
        match self {
            Self::One(_) => &[],
            Self::Column(chunks) => chunks,
        }
    }
}

/// An int, a str or bytes as a key id.
pub(super) fn key_id(object: &Bound<'_, PyAny>) -> Option<Outcome<KeyId>> {
    if object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>() {
        let wrong =
            |_| Failure::Input(format!("key id {object}: integers from 0 to 2**64 - 1 are ids"));
        return Some(object.extract().map(KeyId::Integer).map_err(wrong));
    }
    let text = object.cast::<PyString>().ok();
    if let Some(text) = text {
        return Some(
            text.to_cow().map(|text| KeyId::Bytes(text.as_bytes().into())).map_err(Failure::from),
        );
    }
    object.cast::<PyBytes>().ok().map(|bytes| Ok(KeyId::Bytes(bytes.as_bytes().into())))
}

/// A column with its ids and associated data, cut so that no piece crosses the end of a chunk of any of them.
pub(super) struct Pieces {
    chunks: Vec<Vec<Piece>>,
    one_id: Option<KeyId>,
    aad: Vec<Given>,
    name: String,
}

struct Piece {
    values: Source,
    /// Nonces and tags, where they are apart.
    apart: Option<[Source; 2]>,
    ids: Option<ArrayRef>,
    aad: Vec<Option<Source>>,
}

impl Piece {
    fn views(&self) -> PieceViews<'_> {
        let apart = self.apart.as_ref().map(|apart| apart.each_ref().map(Source::view_buffers));
        PieceViews {
            values: self.values.view_buffers(),
            apart: apart.unwrap_or_default(),
            ids: self.ids.as_ref().map_or(vec![], view_buffers),
            aad: self
                .aad
                .iter()
                .map(|aad| aad.as_ref().map_or(vec![], Source::view_buffers))
                .collect(),
        }
    }
}

impl Pieces {
    pub(super) fn new(
        name: &str,
        values: &[ArrayRef],
        ids: Option<Given>,
        aad: Vec<Given>,
        shape: Shape,
    ) -> Outcome<Self> {
        let rows: usize = values.iter().map(|chunk| chunk.len()).sum();
        let mut id_parts = ids.as_ref().map(|ids| Cursor::new(ids.chunks()));
        for (column, given) in
            ids.iter().map(|ids| ("key_ids", ids)).chain(aad.iter().map(|aad| ("aad", aad)))
        {
            let found = given.chunks().iter().map(|chunk| chunk.len()).sum();
            if matches!(given, Given::Column(_)) && found != rows {
                return Err(column_error(
                    ColumnError::Count { column, found, expected: rows },
                    name,
                ));
            }
        }
        let mut aad_parts: Vec<_> = aad.iter().map(|aad| Cursor::new(aad.chunks())).collect();
        let mut chunks = vec![];
        for chunk in values {
            let (mut pieces, mut start) = (vec![], 0);
            while start < chunk.len() {
                let cursors = id_parts.iter().chain(&aad_parts);
                let len = cursors.fold(chunk.len() - start, |len, cursor| cursor.left().min(len));
                let ids = id_parts.as_mut().and_then(|cursor| cursor.take(len));
                let aad = aad_parts.iter_mut().map(|cursor| cursor.take(len));
                let (values, apart) = match shape {
                    Shape::Rows => (Source::new(part(chunk, start, len)), None),
                    Shape::Parts => parts_of(&part(chunk, start, len), name)?,
                };
                pieces.push(Piece {
                    values,
                    apart,
                    ids,
                    aad: aad.map(|aad| aad.map(Source::new)).collect(),
                });
                start += len;
            }
            chunks.push(pieces);
        }
        let one_id = match ids {
            Some(Given::One(id)) => Some(id),
            _ => None,
        };
        Ok(Self { chunks, one_id, aad, name: name.to_owned() })
    }

    /// The pieces as they are worked.
    pub(super) fn segments<'a>(
        &'a self,
        views: &'a [Vec<PieceViews<'a>>],
    ) -> Outcome<Vec<Vec<Segment<'a>>>> {
        let chunk = |(pieces, views): (&'a Vec<Piece>, &'a Vec<PieceViews<'a>>)| {
            pieces.iter().zip(views).map(|(piece, views)| self.segment(piece, views)).collect()
        };
        self.chunks.iter().zip(views).map(chunk).collect()
    }

    /// Buffers of views, which segments lend.
    pub(super) fn views(&self) -> Vec<Vec<PieceViews<'_>>> {
        self.chunks.iter().map(|pieces| pieces.iter().map(Piece::views).collect()).collect()
    }

    fn segment<'a>(&'a self, piece: &'a Piece, views: &'a PieceViews<'a>) -> Outcome<Segment<'a>> {
        let values = piece.values.values(&views.values, &self.name)?;
        let ids = match (&piece.ids, &self.one_id) {
            (Some(ids), _) => Some(read_ids(ids, &views.ids, &self.name)?),
            (None, Some(id)) => Some(Ids::same(id.clone())),
            (None, None) => None,
        };
        let aad = piece.aad.iter().zip(&views.aad).zip(&self.aad);
        let aad = aad.map(|((aad, views), given)| match (aad, given) {
            (Some(aad), _) => aad.values(views, "aad"),
            (None, Given::One(KeyId::Bytes(bytes))) => Ok(Values::same(values.len, bytes)),
            // A column without rows.
            (None, _) => Ok(Values::same(values.len, &[])),
        });
        let aad = aad.collect::<Outcome<_>>()?;
        let apart = match &piece.apart {
            None => None,
            Some([nonces, tags]) => Some(Apart {
                nonces: nonces.values(&views.apart[0], "nonce")?,
                tags: tags.values(&views.apart[1], "tag")?,
            }),
        };
        Ok(Segment { values, ids, aad, apart })
    }
}

/// What the chunks of a column are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Plaintexts or sealed rows.
    Rows,
    /// Structs of nonce, ciphertext and tag.
    Parts,
}

/// The ciphertexts of a chunk of structs, and nonces and tags.
fn parts_of(chunk: &ArrayRef, name: &str) -> Outcome<(Source, Option<[Source; 2]>)> {
    let wrong = || {
        wrong_type(format!(
            "{name} is a column of {}: give structs of nonce, ciphertext and tag, as layout=\"columns\" seals",
            chunk.data_type()
        ))
    };
    let all = chunk.as_struct_opt().ok_or_else(wrong)?;
    let field =
        |field| Ok::<_, PyErr>(Source::new(all.column_by_name(field).ok_or_else(wrong)?.clone()));
    let ciphertexts = field("ciphertext")?;
    let nulls = NullBuffer::union(all.nulls(), ciphertexts.nulls.as_ref());
    Ok((Source { nulls, ..ciphertexts }, Some([field("nonce")?, field("tag")?])))
}

/// Buffers of a piece's columns of views.
pub(super) struct PieceViews<'a> {
    values: Vec<&'a [u8]>,
    apart: [Vec<&'a [u8]>; 2],
    ids: Vec<&'a [u8]>,
    aad: Vec<Vec<&'a [u8]>>,
}

/// Takes a column's rows from its chunks, one stretch after the other.
struct Cursor<'a> {
    chunks: &'a [ArrayRef],
    /// The next row, in the first chunk that is left.
    start: usize,
}

impl<'a> Cursor<'a> {
    fn new(chunks: &'a [ArrayRef]) -> Self {
        let mut cursor = Self { chunks, start: 0 };
        cursor.skip_ended();
        cursor
    }

    /// Rows before the chunk ends; none end where there are no chunks.
    fn left(&self) -> usize {
        self.chunks.first().map_or(usize::MAX, |chunk| chunk.len() - self.start)
    }

    fn take(&mut self, len: usize) -> Option<ArrayRef> {
        let taken = part(self.chunks.first()?, self.start, len);
        self.start += len;
        self.skip_ended();
        Some(taken)
    }

    fn skip_ended(&mut self) {
        while self.left() == 0 {
            (self.chunks, self.start) = (&self.chunks[1..], 0);
        }
    }
}

fn part(chunk: &ArrayRef, start: usize, len: usize) -> ArrayRef {
    if len == chunk.len() { chunk.clone() } else { chunk.slice(start, len) }
}

/// One array.
struct Source {
    array: ArrayRef,
    nulls: Option<NullBuffer>,
}

impl Source {
    fn new(array: ArrayRef) -> Self {
        let nulls = array.nulls().cloned();
        Self { array, nulls }
    }

    fn view_buffers(&self) -> Vec<&[u8]> {
        view_buffers(&self.array)
    }

    /// The bytes of each row.
    fn values<'a>(&'a self, views: &'a [&'a [u8]], name: &str) -> Outcome<Values<'a>> {
        let rows = read_rows(&self.array, views).ok_or_else(|| {
            wrong_type(format!(
                "{name} is a column of {}: give binary or string of any kind (large, view, fixed size), or cast it",
                self.array.data_type()
            ))
        })?;
        let validity = validity(self.nulls.as_ref());
        Ok(Values { len: self.array.len(), rows, validity })
    }
}

/// Buffers of a column of views, or of a dictionary of them.
fn view_buffers(array: &ArrayRef) -> Vec<&[u8]> {
    let buffers = match array.data_type() {
        DataType::BinaryView => array.as_binary_view().data_buffers(),
        DataType::Utf8View => array.as_string_view().data_buffers(),
        DataType::Dictionary(..) => {
            return array.as_any_dictionary_opt().map_or(vec![], |all| view_buffers(all.values()));
        }
        _ => &[],
    };
    buffers.iter().map(|buffer| buffer.as_slice()).collect()
}

/// The bytes of each row; none of another type.
fn read_rows<'a>(array: &'a ArrayRef, views: &'a [&'a [u8]]) -> Option<Rows<'a>> {
    Some(match array.data_type() {
        DataType::Binary => offsets32(array.as_binary::<i32>()),
        DataType::Utf8 => offsets32(array.as_string::<i32>()),
        DataType::LargeBinary => offsets64(array.as_binary::<i64>()),
        DataType::LargeUtf8 => offsets64(array.as_string::<i64>()),
        DataType::BinaryView => view_rows(array.as_binary_view(), views),
        DataType::Utf8View => view_rows(array.as_string_view(), views),
        DataType::FixedSizeBinary(_) => {
            let array = array.as_fixed_size_binary();
            Rows::Fixed(array.value_data(), usize::try_from(array.value_length()).unwrap_or(0))
        }
        _ => return None,
    })
}

/// Key ids.
fn read_ids<'a>(array: &'a ArrayRef, views: &'a [&'a [u8]], name: &str) -> Outcome<Ids<'a>> {
    let wrong = || {
        Failure::from(wrong_type(format!(
            "key_ids of {name} is a column of {}: give integers, strings, binary or a dictionary of them",
            array.data_type()
        )))
    };
    let nulls = validity(array.nulls());
    if let DataType::Dictionary(key, values) = array.data_type() {
        let codes = integers_of_keys(array, key).ok_or_else(wrong)?;
        let all =
            array.as_any_dictionary_opt().map(AnyDictionaryArray::values).ok_or_else(wrong)?;
        if matches!(**values, DataType::Dictionary(..)) {
            return Err(wrong());
        }
        let ids = read_ids(all, views, name).map_err(|_| wrong())?;
        return Ok(Ids { kind: IdKind::Dictionary(codes, Box::new(ids)), validity: nulls });
    }
    if let Some(integers) = integers(array) {
        return Ok(Ids { kind: IdKind::Integers(integers), validity: nulls });
    }
    let rows = read_rows(array, views).ok_or_else(wrong)?;
    let values = Values { len: array.len(), rows, validity: nulls };
    Ok(Ids { kind: IdKind::Strings(values), validity: None })
}

fn offsets32<T: ByteArrayType<Offset = i32>>(array: &GenericByteArray<T>) -> Rows<'_> {
    Rows::Offsets32(array.values().as_slice(), array.offsets().inner().inner().typed_data())
}

fn offsets64<T: ByteArrayType<Offset = i64>>(array: &GenericByteArray<T>) -> Rows<'_> {
    Rows::Offsets64(array.values().as_slice(), array.offsets().inner().inner().typed_data())
}

fn view_rows<'a, T: ByteViewType>(
    array: &'a GenericByteViewArray<T>,
    buffers: &'a [&'a [u8]],
) -> Rows<'a> {
    Rows::Views(array.views().inner().as_slice().as_chunks().0, buffers)
}

fn validity(nulls: Option<&NullBuffer>) -> Option<Validity<'_>> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0)?;
    Some(Validity { bytes: nulls.validity(), offset: nulls.offset() })
}

fn integers(array: &ArrayRef) -> Option<Integers<'_>> {
    Some(match array.data_type() {
        DataType::Int8 => Integers::I8(array.as_primitive::<Int8Type>().values()),
        DataType::Int16 => Integers::I16(array.as_primitive::<Int16Type>().values()),
        DataType::Int32 => Integers::I32(array.as_primitive::<Int32Type>().values()),
        DataType::Int64 => Integers::I64(array.as_primitive::<Int64Type>().values()),
        DataType::UInt8 => Integers::U8(array.as_primitive::<UInt8Type>().values()),
        DataType::UInt16 => Integers::U16(array.as_primitive::<UInt16Type>().values()),
        DataType::UInt32 => Integers::U32(array.as_primitive::<UInt32Type>().values()),
        DataType::UInt64 => Integers::U64(array.as_primitive::<UInt64Type>().values()),
        _ => return None,
    })
}

fn integers_of_keys<'a>(array: &'a ArrayRef, key: &DataType) -> Option<Integers<'a>> {
    fn keys<K: ArrowDictionaryKeyType>(array: &ArrayRef) -> &[K::Native] {
        array.as_dictionary::<K>().keys().values()
    }
    Some(match key {
        DataType::Int8 => Integers::I8(keys::<Int8Type>(array)),
        DataType::Int16 => Integers::I16(keys::<Int16Type>(array)),
        DataType::Int32 => Integers::I32(keys::<Int32Type>(array)),
        DataType::Int64 => Integers::I64(keys::<Int64Type>(array)),
        DataType::UInt8 => Integers::U8(keys::<UInt8Type>(array)),
        DataType::UInt16 => Integers::U16(keys::<UInt16Type>(array)),
        DataType::UInt32 => Integers::U32(keys::<UInt32Type>(array)),
        DataType::UInt64 => Integers::U64(keys::<UInt64Type>(array)),
        _ => return None,
    })
}
