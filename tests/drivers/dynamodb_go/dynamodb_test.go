// The AWS SDK for Go v2, unmodified, against `liststore serve`. LISTSTORE_BINARY names the program, which listens on
// loopback, on a free port, and ends with its standard input; LISTSTORE_DYNAMODB=http://HOST:PORT another endpoint.
package dynamodb

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/expression"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var (
	ctx = context.Background()
	url string
)

func TestMain(m *testing.M) {
	url = os.Getenv("LISTSTORE_DYNAMODB")
	stop := func() {}
	if !strings.HasPrefix(url, "http") {
		command := exec.Command(os.Getenv("LISTSTORE_BINARY"), "serve", "--cql-port", "0", "--dynamodb-port", "0", "--until-eof")
		command.Stderr = os.Stderr
		stdin, err := command.StdinPipe()
		must(err)
		stdout, err := command.StdoutPipe()
		must(err)
		must(command.Start())
		line, err := bufio.NewReader(stdout).ReadBytes('\n')
		must(err)
		var facts struct {
			Port int `json:"dynamodb_port"`
		}
		must(json.Unmarshal(line, &facts))
		url = fmt.Sprintf("http://127.0.0.1:%d", facts.Port)
		stop = func() {
			must(stdin.Close())
			must(command.Wait())
		}
	}
	status := m.Run()
	stop()
	os.Exit(status)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func connect() *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: aws.String(url),
		Credentials: credentials.NewStaticCredentialsProvider("AKID", "secret", "")})
}

type click struct {
	User  string            `dynamodbav:"pk"`
	At    int64             `dynamodbav:"sk"`
	Item  string            `dynamodbav:"v,omitempty"`
	Ends  int64             `dynamodbav:"ends,omitempty"`
	Seen  bool              `dynamodbav:"seen"`
	Bytes []byte            `dynamodbav:"bytes,omitempty"`
	Tags  []string          `dynamodbav:"tags,stringset,omitempty"`
	More  map[string]string `dynamodbav:"more,omitempty"`
}

func item(t *testing.T, value any) map[string]types.AttributeValue {
	t.Helper()
	made, err := attributevalue.MarshalMap(value)
	check(t, err)
	return made
}

func keyOf(t *testing.T, user string, at int64) map[string]types.AttributeValue {
	return item(t, struct {
		User string `dynamodbav:"pk"`
		At   int64  `dynamodbav:"sk"`
	}{user, at})
}

func text(value string) types.AttributeValue { return &types.AttributeValueMemberS{Value: value} }

// newTable has lists of clicks with an index by item.
func newTable(t *testing.T, client *dynamodb.Client) *string {
	t.Helper()
	name := aws.String(strings.ReplaceAll(t.Name(), "/", ".") + fmt.Sprint(time.Now().UnixNano()))
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName: name, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
			{AttributeName: aws.String("v"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange}},
		LocalSecondaryIndexes: []types.LocalSecondaryIndex{{
			IndexName: aws.String("by_v"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
			KeySchema: []types.KeySchemaElement{
				{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("v"), KeyType: types.KeyTypeRange}}}}})
	check(t, err)
	described, err := dynamodb.NewTableExistsWaiter(client).WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: name}, time.Minute)
	check(t, err)
	if described.Table.TableStatus != types.TableStatusActive || len(described.Table.LocalSecondaryIndexes) != 1 {
		t.Fatalf("described as %+v", described.Table)
	}
	t.Cleanup(func() {
		_, err := client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: name})
		check(t, err)
		_, err = client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: name})
		var missing *types.ResourceNotFoundException
		if !errors.As(err, &missing) {
			t.Errorf("a deleted table is described: %v", err)
		}
	})
	return name
}

func TestAnItem(t *testing.T) {
	client := connect()
	table := newTable(t, client)
	want := click{"ann", 1, "tea", 0, true, []byte{0, 255}, []string{"a", "b"}, map[string]string{"x": "y"}}
	put := &dynamodb.PutItemInput{TableName: table, Item: item(t, want), ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}
	_, err := client.PutItem(ctx, put)
	check(t, err)
	_, err = client.PutItem(ctx, put)
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) || len(failed.Item) == 0 {
		t.Fatalf("put twice: %v", err)
	}
	found, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: keyOf(t, "ann", 1), ConsistentRead: aws.Bool(true)})
	check(t, err)
	var got click
	check(t, attributevalue.UnmarshalMap(found.Item, &got))
	sort.Strings(got.Tags)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	built, err := expression.NewBuilder().WithUpdate(expression.Set(expression.Name("more.z"), expression.Value("w")).
		Add(expression.Name("count"), expression.Value(2)).Remove(expression.Name("bytes"))).
		WithCondition(expression.Name("v").Equal(expression.Value("tea")).And(expression.Name("tags").Contains("a"))).Build()
	check(t, err)
	updated, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{TableName: table, Key: keyOf(t, "ann", 1), UpdateExpression: built.Update(),
		ConditionExpression: built.Condition(), ExpressionAttributeNames: built.Names(), ExpressionAttributeValues: built.Values(), ReturnValues: types.ReturnValueUpdatedNew})
	check(t, err)
	var count int
	check(t, attributevalue.Unmarshal(updated.Attributes["count"], &count))
	if count != 2 || len(updated.Attributes) != 2 {
		t.Errorf("updated: %v", updated.Attributes)
	}
	deleted, err := client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: table, Key: keyOf(t, "ann", 1), ReturnValues: types.ReturnValueAllOld})
	check(t, err)
	if _, there := deleted.Attributes["bytes"]; there || len(deleted.Attributes) != 7 {
		t.Errorf("deleted: %v", deleted.Attributes)
	}
}

// fill writes clicks 0..n-1 in batches.
func fill(t *testing.T, client *dynamodb.Client, table *string, n int) {
	t.Helper()
	for start := 0; start < n; start += 25 {
		var writes []types.WriteRequest
		for at := start; at < min(start+25, n); at++ {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item(t, click{User: "ann", At: int64(at), Item: fmt.Sprintf("v%d", at%3)})}})
		}
		done, err := client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{*table: writes}})
		check(t, err)
		if len(done.UnprocessedItems) != 0 {
			t.Fatalf("left: %v", done.UnprocessedItems)
		}
	}
}

func TestPagesOfAQuery(t *testing.T) {
	client := connect()
	table := newTable(t, client)
	fill(t, client, table, 60)
	for _, test := range []struct {
		name, index, condition string
		limit                  int32
		pages, count           int
	}{
		{"all", "", "pk = :p AND v <> :v", 7, 9, 40}, {"exact", "", "pk = :p AND v <> :v", 20, 4, 40}, {"index", "by_v", "pk = :p AND v = :v", 6, 4, 20},
	} {
		t.Run(test.name, func(t *testing.T) {
			input := &dynamodb.QueryInput{TableName: table, Limit: aws.Int32(test.limit), ScanIndexForward: aws.Bool(false),
				ExpressionAttributeValues: map[string]types.AttributeValue{":p": text("ann"), ":v": text("v1")}}
			if test.index != "" {
				input.IndexName, input.KeyConditionExpression = &test.index, &test.condition
			} else {
				input.KeyConditionExpression, input.FilterExpression = aws.String("pk = :p"), aws.String("v <> :v")
			}
			pages, seen := 0, map[int64]bool{}
			for pager := dynamodb.NewQueryPaginator(client, input); pager.HasMorePages(); pages++ {
				page, err := pager.NextPage(ctx)
				check(t, err)
				var got []click
				check(t, attributevalue.UnmarshalListOfMaps(page.Items, &got))
				for _, one := range got {
					seen[one.At] = true
				}
			}
			if pages != test.pages || len(seen) != test.count {
				t.Errorf("%d pages, %d clicks", pages, len(seen))
			}
		})
	}
}

func TestScanInSegments(t *testing.T) {
	client := connect()
	table := newTable(t, client)
	fill(t, client, table, 30)
	var mutex sync.Mutex
	var wait sync.WaitGroup
	seen := map[int64]int{}
	for segment := int32(0); segment < 4; segment++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			pager := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: table, Segment: &segment, TotalSegments: aws.Int32(4), Limit: aws.Int32(5)})
			for pager.HasMorePages() {
				page, err := pager.NextPage(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				var got []click
				if err := attributevalue.UnmarshalListOfMaps(page.Items, &got); err != nil {
					t.Error(err)
				}
				mutex.Lock()
				for _, one := range got {
					seen[one.At]++
				}
				mutex.Unlock()
			}
		}()
	}
	wait.Wait()
	if len(seen) != 30 {
		t.Errorf("%d clicks", len(seen))
	}
}

func TestBatchGet(t *testing.T) {
	client := connect()
	table := newTable(t, client)
	fill(t, client, table, 30)
	var keys []map[string]types.AttributeValue
	for at := int64(20); at < 40; at++ {
		keys = append(keys, keyOf(t, "ann", at))
	}
	found, err := client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
		*table: {Keys: keys, ProjectionExpression: aws.String("#v"), ExpressionAttributeNames: map[string]string{"#v": "v"}}}})
	check(t, err)
	if len(found.Responses[*table]) != 10 || len(found.Responses[*table][0]) != 1 || len(found.UnprocessedKeys) != 0 {
		t.Errorf("found %v", found)
	}
}

func TestTransactions(t *testing.T) {
	client := connect()
	table := newTable(t, client)
	fill(t, client, table, 2)
	put := types.TransactWriteItem{Put: &types.Put{TableName: table, Item: item(t, click{User: "ann", At: 7})}}
	check0 := types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{TableName: table, Key: keyOf(t, "ann", 0), ConditionExpression: aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld}}
	_, err := client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put, check0}})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) || len(cancelled.CancellationReasons) != 2 || *cancelled.CancellationReasons[0].Code != "None" ||
		*cancelled.CancellationReasons[1].Code != "ConditionalCheckFailed" || len(cancelled.CancellationReasons[1].Item) == 0 {
		t.Fatalf("%v", err)
	}
	token := aws.String(fmt.Sprint("once-", time.Now().UnixNano()))
	add := types.TransactWriteItem{Update: &types.Update{TableName: table, Key: keyOf(t, "ann", 1), UpdateExpression: aws.String("ADD n :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}}}}
	for range 2 {
		_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{put, add}, ClientRequestToken: token})
		check(t, err)
	}
	found, err := client.TransactGetItems(ctx, &dynamodb.TransactGetItemsInput{TransactItems: []types.TransactGetItem{
		{Get: &types.Get{TableName: table, Key: keyOf(t, "ann", 1)}}, {Get: &types.Get{TableName: table, Key: keyOf(t, "ann", 7)}}, {Get: &types.Get{TableName: table, Key: keyOf(t, "bob", 7)}}}})
	check(t, err)
	if len(found.Responses) != 3 || len(found.Responses[1].Item) == 0 || len(found.Responses[2].Item) != 0 {
		t.Fatalf("found %v", found.Responses)
	}
	if n, ok := found.Responses[0].Item["n"].(*types.AttributeValueMemberN); !ok || n.Value != "1" {
		t.Errorf("done twice: %v", found.Responses[0].Item)
	}
}

func TestTimeToLive(t *testing.T) {
	client := connect()
	table := newTable(t, client)
	_, err := client.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: table,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("ends"), Enabled: aws.Bool(true)}})
	check(t, err)
	described, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: table})
	check(t, err)
	if *described.TimeToLiveDescription.AttributeName != "ends" {
		t.Errorf("%+v", described.TimeToLiveDescription)
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: item(t, click{User: "ann", At: 1, Ends: time.Now().Unix() + 3600})})
	check(t, err)
	found, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: keyOf(t, "ann", 1)})
	check(t, err)
	if len(found.Item) == 0 {
		t.Error("it is gone before its time")
	}
}
