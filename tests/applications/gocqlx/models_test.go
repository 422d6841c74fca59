// What schemagen makes of the keyspace that its own test leaves, read and written by its own models: what that test
// compares with lies in a Go module of its own, which gocqlx' archive leaves out.
package models

import (
	"reflect"
	"testing"

	"github.com/gocql/gocql"
	"github.com/scylladb/gocqlx/v3"
	"github.com/scylladb/gocqlx/v3/table"
)

func open(t *testing.T) gocqlx.Session {
	t.Helper()
	cluster := gocql.NewCluster("127.0.0.1")
	cluster.Keyspace = "schemagen"
	session, err := gocqlx.WrapSession(cluster.CreateSession())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

func TestModelsHaveTheSchema(t *testing.T) {
	for name, model := range map[string]struct {
		made *table.Table
		want table.Metadata
	}{
		"a table": {Songs, table.Metadata{
			Name:    "songs",
			Columns: []string{"album", "artist", "data", "duration", "id", "tags", "title"},
			PartKey: []string{"id"},
			SortKey: []string{},
		}},
		"a table of clustering columns": {Playlists, table.Metadata{
			Name:    "playlists",
			Columns: []string{"album", "artist", "id", "song_id", "title"},
			PartKey: []string{"id"},
			SortKey: []string{"title", "album", "artist"},
		}},
		"an index": {SongsTitleIndex, table.Metadata{
			Name:    "songs_title_index",
			Columns: []string{"id", "idx_token", "title"},
			PartKey: []string{"title"},
			SortKey: []string{"idx_token", "id"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := model.made.Metadata(); !reflect.DeepEqual(got, model.want) {
				t.Fatalf("got %+v, want %+v", got, model.want)
			}
		})
	}
}

func TestRowsOfModels(t *testing.T) {
	session := open(t)
	song := SongsStruct{
		Id: gocql.TimeUUID(), Title: "Für Elise", Album: "Klavierstücke", Artist: "Beethoven",
		Duration: gocql.Duration{Nanoseconds: 180_000_000_000}, Tags: []string{"a minor", "bagatelle"}, Data: []byte{0, 1},
	}
	if err := session.Query(Songs.Insert()).BindStruct(song).ExecRelease(); err != nil {
		t.Fatal(err)
	}
	t.Run("a song", func(t *testing.T) {
		var read SongsStruct
		if err := session.Query(Songs.Get()).BindStruct(song).GetRelease(&read); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(read, song) {
			t.Fatalf("read %+v, wrote %+v", read, song)
		}
	})
	t.Run("its row of the index", func(t *testing.T) {
		var read []SongsTitleIndexStruct
		if err := session.Query(SongsTitleIndex.Select()).BindStruct(SongsTitleIndexStruct{Title: song.Title}).
			SelectRelease(&read); err != nil {
			t.Fatal(err)
		}
		if len(read) != 1 || read[0].Id != song.Id || read[0].Title != song.Title {
			t.Fatalf("read %+v", read)
		}
	})
	t.Run("a playlist, with a user type in its key", func(t *testing.T) {
		playlist := PlaylistsStruct{
			Id: gocql.TimeUUID(), Title: "piano", Artist: "Beethoven", SongId: song.Id,
			Album: AlbumUserType{Name: "Klavierstücke", Songwriters: []string{"Beethoven"}},
		}
		if err := session.Query(Playlists.Insert()).BindStruct(playlist).ExecRelease(); err != nil {
			t.Fatal(err)
		}
		var read PlaylistsStruct
		if err := session.Query(Playlists.Get()).BindStruct(playlist).GetRelease(&read); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(read, playlist) {
			t.Fatalf("read %+v, wrote %+v", read, playlist)
		}
	})
}
