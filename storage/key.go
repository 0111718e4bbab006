package storage

// Bucket names the values of one type that are kept of a user. The names are part of
// the stored format.
type Bucket string

// The buckets. Their values are encoded by Encode and decoded by State.Decode.
const (
	BucketTabs      Bucket = "tabs"
	BucketNames     Bucket = "names"
	BucketNumbers   Bucket = "numbers"
	BucketBrowsers  Bucket = "browsers"
	BucketSites     Bucket = "sites"
	BucketSettings  Bucket = "settings"
	BucketDocuments Bucket = "documents"
)

// Buckets returns all buckets.
func Buckets() []Bucket {
	return []Bucket{BucketTabs, BucketNames, BucketNumbers, BucketBrowsers, BucketSites, BucketSettings, BucketDocuments}
}

// Key says what a change replaces or deletes: a value in one of a user's buckets. Keys
// are comparable.
type Key struct {
	Bucket Bucket
	a, b   string
}

// Bytes returns the key within its bucket, as it is stored. No two keys of a bucket
// have the same bytes.
func (k Key) Bytes() []byte {
	switch k.Bucket {
	case BucketTabs, BucketNumbers, BucketDocuments:
		return append(appendText(make([]byte, 0, len(k.a)+len(k.b)+2), k.a), k.b...)
	}
	return []byte(k.a)
}

// KeyOf returns the key of a change. That of what is not a change is the zero Key.
func KeyOf(c Change) Key {
	switch c := c.(type) {
	case Tab:
		return Key{BucketTabs, string(c.Domain), c.Key}
	case DeleteTab:
		return Key{BucketTabs, string(c.Domain), c.Key}
	case Number:
		return Key{BucketNumbers, string(c.Domain), c.Key}
	case DeleteNumber:
		return Key{BucketNumbers, string(c.Domain), c.Key}
	case Name:
		return Key{BucketNames, c.Public, ""}
	case DeleteName:
		return Key{BucketNames, c.Public, ""}
	case Browser:
		return Key{BucketBrowsers, string(c.ID), ""}
	case Site:
		return Key{BucketSites, string(c.Domain), ""}
	case Settings:
		return Key{BucketSettings, c.Name, ""}
	case Document:
		return Key{BucketDocuments, c.Kind, c.ID}
	case DeleteDocument:
		return Key{BucketDocuments, c.Kind, c.ID}
	}
	return Key{}
}
